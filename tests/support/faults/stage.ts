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
  type WireScript,
  type WireServerOptions,
  wireServer,
} from "../wire-server.ts";

/** How an adapter reaches the server: one of `clients`. */
export type MakeClient = (typeof clients)[number][1];

/** Those that are ours: they take a `clientConfig`. */
export const ourClients = clients.filter(([, client]) => client("http://127.0.0.1").clientConfig);

/** How a stage differs from the plainest one: the prompt has one tool, `add`. */
export interface StageSetting {
  readonly hostedTools?: readonly HostedTool[];
  /** What `add` does besides adding. */
  readonly onAdd?: () => unknown;
  /** What the prompt's answer must fit. */
  readonly output?: Schema<unknown>;
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  /** For our own clients. */
  readonly clientConfig?: OpenAIAdapterOptions["clientConfig"];
  readonly server?: WireServerOptions;
  /** @default one without a store */
  readonly session?: Session;
  readonly store?: SessionStore;
  /** @default one that skips sleep */
  readonly clock?: FakeClock;
}

/** An adapter, a session and a server that misbehaves. */
export interface Stage extends AsyncDisposable {
  readonly session: Session;
  readonly bus: RecordingBus;
  readonly clock: FakeClock;
  /** Whatever was logged, in order. */
  readonly logged: readonly (readonly [message: string, facts: object | undefined])[];
  /** Every `POST /responses`, in the order they came. */
  readonly turns: readonly SeenRequest[];
  /** What `add` was called with. */
  readonly additions: readonly object[];
  readonly url: string;
  evaluate(options?: Partial<EvaluateOptions>): Promise<PromptResponse<unknown>>;
  /** What an evaluation throws; it is wrong if it does not. */
  failure(options?: Partial<EvaluateOptions>): Promise<unknown>;
}

/** Waits are skipped, and every request is tried three times at most. */
export async function stage(
  client: MakeClient,
  script: WireScript,
  setting: StageSetting = {},
): Promise<Stage> {
  const server = await wireServer(script, setting.server);
  const bus = recordingBus();
  const { clock = fakeClock({ skipsSleep: true }), store } = setting;
  const session = setting.session ?? new Session({ bus, store });
  const { tool, additions } = adder(setting.onAdd);
  const { logger, logged } = recordingLogger();
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    ...reaching(client, server.url, setting.clientConfig),
    ...{ clock, logger, random: () => 0, throttle: { maxAttempts: 3, baseDelayMs: 1 } },
    ...setting.adapter,
  });
  const prompt = promptWith(tool, setting);
  const evaluate: Stage["evaluate"] = (options) =>
    adapter.evaluate(prompt, { session, ...options });
  return {
    ...{ session, bus, clock, logged, additions, url: server.url, evaluate },
    get turns() {
      return server.requests.filter(({ path }) => path === "/responses");
    },
    async failure(options) {
      const response = await evaluate(options).catch((error: unknown) => new Thrown(error));
      if (response instanceof Thrown) return response.error;
      throw new Error(`It should have failed, and answered ${JSON.stringify(response.text)}`);
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A request's items after the prompt. */
export function conversationOf(turn: SeenRequest | undefined): readonly unknown[] {
  const input: unknown = turn?.body["input"];
  return Array.isArray(input) ? input.slice(1) : [];
}

/** A turn's body in the wire's own text: for what `JSON.stringify` would not write. */
export function textAnswer(text: string, headers: Readonly<Record<string, string>> = {}) {
  return { bytes: text, headers: { "content-type": "application/json", ...headers } };
}

/** A completed response, of items that are JSON already. */
export function responseText(items: readonly string[], more: object = {}): string {
  const rest = { id: "resp_1", object: "response", status: "completed", model: "gpt-5.2", ...more };
  return `${JSON.stringify(rest).slice(0, -1)},"output":[${items.join(",")}]}`;
}

class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function reaching(
  client: MakeClient,
  url: string,
  config: OpenAIAdapterOptions["clientConfig"],
): Partial<OpenAIAdapterOptions> {
  const made = client(url);
  return made.clientConfig ? { clientConfig: { ...made.clientConfig, ...config } } : made;
}

function promptWith(tool: Tool, { hostedTools = [], output }: StageSetting): Prompt<unknown> {
  const task = { key: "task", title: "Task", template: "Go.", tools: [tool], hostedTools };
  const sections = [new MarkdownSection(task)];
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections, output }));
}

function adder(onAdd: StageSetting["onAdd"] = () => null) {
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

function recordingLogger() {
  const logged: [message: string, facts: object | undefined][] = [];
  const record = (message: string, facts?: object) => void logged.push([message, facts]);
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  return { logger, logged };
}
