import {
  type EvaluateOptions,
  type HostedTool,
  type Logger,
  MarkdownSection,
  Prompt,
  type PromptResponse,
  PromptTemplate,
  type Schema,
  Session,
  type SessionStore,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import { type FakeClock, fakeClock, type RecordingBus, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../openai-clients.ts";
import {
  type SeenRequest,
  startWireServer,
  type WireScript,
  type WireServerOptions,
} from "../wire-server.ts";

/** Creates the client options of an adapter; an entry of `clients`. */
export type CreateClientOptions = (typeof clients)[number][1];

/** The built-in clients, which accept a `clientConfig`. */
export const ourClients = clients.filter(([, client]) => client("http://127.0.0.1").clientConfig);

/** Options of a test stage. Its prompt always has the tool `add`. */
export interface FaultSetupOptions {
  readonly hostedTools?: readonly HostedTool[];
  /** Called by `add` before it returns. */
  readonly onAdd?: () => unknown;
  /** The prompt's output schema. */
  readonly output?: Schema<unknown>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  /** Merged into the config of built-in clients. */
  readonly clientConfig?: OpenAIAdapterOptions["clientConfig"];
  readonly server?: WireServerOptions;
  /** @default a session without a store */
  readonly session?: Session;
  readonly store?: SessionStore;
  /** @default a clock that skips sleep */
  readonly clock?: FakeClock;
}

/** An adapter, a session and a misbehaving server. */
export interface FaultSetup extends AsyncDisposable {
  readonly session: Session;
  readonly bus: RecordingBus;
  readonly clock: FakeClock;
  /** All log messages, in order. */
  readonly logged: readonly (readonly [message: string, facts: object | undefined])[];
  /** Every `POST /responses` request, in order of arrival. */
  readonly turns: readonly SeenRequest[];
  /** The params of each `add` call. */
  readonly additions: readonly object[];
  readonly url: string;
  evaluate(options?: Partial<EvaluateOptions>): Promise<PromptResponse<unknown>>;
  /** Returns the error of an evaluation, which must fail. */
  getFailure(options?: Partial<EvaluateOptions>): Promise<unknown>;
}

/** Creates a stage that skips waits and sends each request at most three times. */
export async function createFaultSetup(
  client: CreateClientOptions,
  script: WireScript,
  setting: FaultSetupOptions = {},
): Promise<FaultSetup> {
  const server = await startWireServer(script, setting.server);
  const bus = recordingBus();
  const { clock = fakeClock({ skipsSleep: true }), store } = setting;
  const session = setting.session ?? new Session({ bus, store });
  const { tool, additions } = createAdder(setting.onAdd);
  const { logger, logged } = createRecordingLogger();
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    ...createClientOptions(client, server.url, setting.clientConfig),
    ...{ clock, logger, random: () => 0, throttle: { maxAttempts: 3, baseDelayMs: 1 } },
    ...setting.adapter,
  });
  const prompt = createPrompt(tool, setting);
  const evaluate: FaultSetup["evaluate"] = (options) =>
    adapter.evaluate(prompt, { session, ...options });
  return {
    ...{ session, bus, clock, logged, additions, url: server.url, evaluate },
    get turns() {
      return server.requests.filter(({ path }) => path === "/responses");
    },
    async getFailure(options) {
      const response = await evaluate(options).catch((error: unknown) => new Thrown(error));
      if (response instanceof Thrown) return response.error;
      throw new Error(`The evaluation succeeded with ${JSON.stringify(response.text)}`);
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Returns a request's items after the prompt. */
export function getConversationItems(turn: SeenRequest | undefined): readonly unknown[] {
  const input: unknown = turn?.body["input"];
  return Array.isArray(input) ? input.slice(1) : [];
}

/** Creates a response from raw text, for JSON that `JSON.stringify` cannot produce. */
export function createTextResponse(text: string, headers: Readonly<Record<string, string>> = {}) {
  return { bytes: text, headers: { "content-type": "application/json", ...headers } };
}

/** Creates the text of a completed response from serialized items. */
export function createResponseText(items: readonly string[], more: object = {}): string {
  const rest = { id: "resp_1", object: "response", status: "completed", model: "gpt-5.2", ...more };
  return `${JSON.stringify(rest).slice(0, -1)},"output":[${items.join(",")}]}`;
}

class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function createClientOptions(
  client: CreateClientOptions,
  url: string,
  config: OpenAIAdapterOptions["clientConfig"],
): Partial<OpenAIAdapterOptions> {
  const made = client(url);
  return made.clientConfig ? { clientConfig: { ...made.clientConfig, ...config } } : made;
}

function createPrompt(
  tool: Tool,
  { hostedTools = [], output }: FaultSetupOptions,
): Prompt<unknown> {
  const task = { key: "task", title: "Task", template: "Go.", tools: [tool], hostedTools };
  const sections = [new MarkdownSection(task)];
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections, output }));
}

function createAdder(onAdd: FaultSetupOptions["onAdd"] = () => null) {
  const additions: object[] = [];
  const tool = new Tool({
    name: "add",
    description: "Adds two numbers.",
    params: z.strictObject({ a: z.number(), b: z.number() }),
    async handler(params) {
      additions.push(params);
      await onAdd();
      return ToolResult.ok(null, String(params.a + params.b));
    },
  });
  return { tool, additions };
}

function createRecordingLogger() {
  const logged: [message: string, facts: object | undefined][] = [];
  const record = (message: string, facts?: object) => void logged.push([message, facts]);
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  return { logger, logged };
}
