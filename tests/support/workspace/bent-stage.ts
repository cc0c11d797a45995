import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  type EvaluateOptions,
  type HostedTool,
  MarkdownSection,
  Prompt,
  type PromptResponse,
  PromptTemplate,
  type Section,
  Session,
  type Tool,
} from "weakincentives";
import {
  LocalProvider,
  type LocalProviderOptions,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import {
  OpenAIAdapter,
  type OpenAIAdapterOptions,
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import { type RecordingBus, recordingBus } from "weakincentives/testing";
import { isPlainObject } from "../../../src/base/freeze.ts";
import type { OpenAIClient } from "../../../src/openai/http/client.ts";
import { ContainerCalls } from "../../../src/openai/http/container-calls.ts";
import { openAIClient } from "../../../src/openai/http/http-client.ts";
import { workspaceSandbox } from "./stage.ts";

/** A request that has come by. */
export interface BentRequest {
  readonly method: string;
  /** Below `/v1`, without its query. */
  readonly path: string;
  /** `{}` for what is no JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The body in Latin-1. */
  readonly text: string;
  /** What the provider answers. */
  answer(): Promise<BentAnswer>;
}

export interface BentAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
}

/** Answers in the provider's place, or waits first; `null` leaves it to the provider. */
export type Bend = (request: BentRequest) => Promise<BentAnswer | null> | BentAnswer | null;

/** How a stage differs from the plainest. */
export interface BentSetting {
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly provider?: Partial<LocalProviderOptions>;
}

/** An adapter, and a provider whose answers may be bent on their way. */
export interface BentStage {
  /** `"POST /containers"`, with ids left out, in the order they came. */
  readonly requests: readonly string[];
  readonly seen: readonly BentRequest[];
  /** Past all bending. */
  readonly calls: ContainerCalls;
  /** What an adapter of the stage talks by. */
  readonly client: OpenAIClient;
  readonly adapter: OpenAIAdapter;
  readonly session: Session;
  readonly bus: RecordingBus;
  bend(by: Bend): void;
  /** A section of the session, from any root; cleaned up with the test. */
  section(
    options?: Partial<OpenAIContainerWorkspaceSectionOptions>,
  ): OpenAIContainerWorkspaceSection;
  evaluate(
    sections: Section | readonly Section[],
    options?: EvaluateSetting,
  ): Promise<PromptResponse<unknown>>;
  /** What all code printed, call by call. */
  printed(): readonly string[];
}

export interface EvaluateSetting extends Partial<EvaluateOptions> {
  readonly task?: string;
  readonly tools?: readonly Tool[];
  readonly hostedTools?: readonly HostedTool[];
}

/** A hundred thousand files take a while to remove, on a machine that others use as well. */
const PATIENCE_MS = 300_000;

/** Starts all of it, gone when the test is over. */
export async function bentStage(
  script: ModelScript,
  setting: BentSetting = {},
): Promise<BentStage> {
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: workspaceSandbox(),
    ...setting.provider,
  });
  onTestFinished(() => provider[Symbol.asyncDispose](), PATIENCE_MS);
  const { url } = await provider.listen();
  const bends: Bend[] = [];
  const seen: BentRequest[] = [];
  const between = await listening(url, async (request) => {
    seen.push(request);
    for (const bend of bends) {
      const answer = await bend(request);
      if (answer) return answer;
    }
    return await request.answer();
  });
  const client = openAIClient({ baseURL: between, apiKey: "local" });
  const bus = recordingBus();
  const session = new Session({ bus });
  const adapter = new OpenAIAdapter({
    model: "local",
    client,
    hostedTools: { codeInterpreter: true },
    throttle: { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3 },
    ...setting.adapter,
  });
  return {
    ...{ seen, client, adapter, session, bus },
    calls: new ContainerCalls(openAIClient({ baseURL: url, apiKey: "local" })),
    get requests() {
      return seen.map(
        ({ method, path }) => `${method} ${path.replaceAll(/c(?:ntr|file)_\w+/g, "·")}`,
      );
    },
    bend: (by) => void bends.push(by),
    section(options = {}) {
      const section = new OpenAIContainerWorkspaceSection({
        session,
        allowedHostRoots: "any",
        ...options,
      });
      onTestFinished(async () => {
        const { directory, keptIn } = await section.cleanup();
        if (!options.syncDestination && directory) rmSync(directory, { recursive: true });
        if (keptIn) rmSync(keptIn, { recursive: true });
      }, PATIENCE_MS);
      return section;
    },
    async evaluate(
      given,
      { task: template = "Look at the files.", tools, hostedTools, ...options } = {},
    ) {
      const task = { key: "task", title: "Task", template, tools, hostedTools };
      const sections = [new MarkdownSection(task), ...[given].flat()];
      const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "bent", sections }));
      return await adapter.evaluate(prompt, { session, ...options });
    },
    printed: () =>
      bus.of("ToolInvoked").map(({ result }) => String(Object(result.value)["stdout"])),
  };
}

/** What Python printed is no longer what it was, in an answer to one of our own requests. */
export function ownRequest({ path, body }: BentRequest): boolean {
  return path === "/responses" && Object(body["tool_choice"]).type === "code_interpreter";
}

async function listening(
  to: string,
  answer: (request: BentRequest) => Promise<BentAnswer>,
): Promise<string> {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => void response.destroy());
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const { status, body } = await answer(requestOf(request, bytes, to));
    const type = typeof body === "string" ? "application/json" : "application/octet-stream";
    response.writeHead(status, { "content-type": type }).end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await ended;
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : null}/v1`;
}

function requestOf(request: IncomingMessage, bytes: Buffer, to: string): BentRequest {
  const { method = "", headers } = request;
  const { pathname, search } = new URL(request.url ?? "", "http://127.0.0.1");
  const path = pathname.replace(/^\/v1(?=\/)/, "");
  const type = headers["content-type"] ?? "";
  const json: unknown = type.startsWith("application/json") ? JSON.parse(bytes.toString()) : {};
  const text = bytes.toString("latin1");
  const kept = {
    authorization: headers.authorization ?? "",
    ...(type && { "content-type": type }),
  };
  return {
    ...{ method, path, text },
    body: isPlainObject(json) ? json : {},
    async answer() {
      const given = await fetch(`${to}${path}${search}`, {
        method,
        headers: kept,
        ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
      });
      const isJson = given.headers.get("content-type")?.startsWith("application/json");
      const body = isJson ? await given.text() : new Uint8Array(await given.arrayBuffer());
      return { status: given.status, body };
    },
  };
}
