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
import { workspaceSandbox } from "./workspace-fixture.ts";

/** A request on its way to the provider. */
export interface InterceptedRequest {
  readonly method: string;
  /** The path below `/v1`, without the query. */
  readonly path: string;
  /** The JSON body, or `{}` if the body is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The body in Latin-1. */
  readonly text: string;
  /** Sends the request to the provider and returns its response. */
  forward(): Promise<InterceptedResponse>;
}

/** The response to an intercepted request. */
export interface InterceptedResponse {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a response instead of the provider, or `null` to forward the request. May delay it. */
export type Interceptor = (
  request: InterceptedRequest,
) => Promise<InterceptedResponse | null> | InterceptedResponse | null;

/** Options of the fixture. */
export interface InterceptionOptions {
  readonly adapter?: Partial<OpenAIAdapterOptions>;
  readonly provider?: Partial<LocalProviderOptions>;
}

/** An adapter, and a provider whose responses can be intercepted. */
export interface InterceptionFixture {
  /** The requests in order, such as `"POST /containers"`, with ids replaced by `·`. */
  readonly requests: readonly string[];
  readonly seenRequests: readonly InterceptedRequest[];
  /** Calls that bypass the interceptors. */
  readonly calls: ContainerCalls;
  /** The client of the fixture's adapter. */
  readonly client: OpenAIClient;
  readonly adapter: OpenAIAdapter;
  readonly session: Session;
  readonly bus: RecordingBus;
  intercept(by: Interceptor): void;
  /** Creates a section of the session that allows any host root. It is cleaned up when the test ends. */
  createSection(
    options?: Partial<OpenAIContainerWorkspaceSectionOptions>,
  ): OpenAIContainerWorkspaceSection;
  evaluate(
    sections: Section | readonly Section[],
    options?: EvaluateFixtureOptions,
  ): Promise<PromptResponse<unknown>>;
  /** Returns the output of each code call. */
  readOutputs(): readonly string[];
}

/** Options of an evaluation. */
export interface EvaluateFixtureOptions extends Partial<EvaluateOptions> {
  readonly task?: string;
  readonly tools?: readonly Tool[];
  readonly hostedTools?: readonly HostedTool[];
}

/** Removing 100,000 files takes long on a busy machine. */
const CLEANUP_TIMEOUT_MS = 300_000;

/** Starts the fixture. It is disposed when the test ends. */
export async function createInterceptionFixture(
  script: ModelScript,
  setting: InterceptionOptions = {},
): Promise<InterceptionFixture> {
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: workspaceSandbox(),
    ...setting.provider,
  });
  onTestFinished(() => provider[Symbol.asyncDispose](), CLEANUP_TIMEOUT_MS);
  const { url } = await provider.listen();
  const bends: Interceptor[] = [];
  const seen: InterceptedRequest[] = [];
  const between = await startProxy(url, async (request) => {
    seen.push(request);
    for (const bend of bends) {
      const answer = await bend(request);
      if (answer) return answer;
    }
    return await request.forward();
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
    ...{ seenRequests: seen, client, adapter, session, bus },
    calls: new ContainerCalls(openAIClient({ baseURL: url, apiKey: "local" })),
    get requests() {
      return seen.map(
        ({ method, path }) => `${method} ${path.replaceAll(/c(?:ntr|file)_\w+/g, "·")}`,
      );
    },
    intercept: (by) => void bends.push(by),
    createSection(options = {}) {
      const section = new OpenAIContainerWorkspaceSection({
        session,
        allowedHostRoots: "any",
        ...options,
      });
      onTestFinished(async () => {
        const { directory, conflictsDir } = await section.cleanup();
        if (!options.syncDestination && directory) rmSync(directory, { recursive: true });
        if (conflictsDir) rmSync(conflictsDir, { recursive: true });
      }, CLEANUP_TIMEOUT_MS);
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
    readOutputs: () =>
      bus.of("ToolInvoked").map(({ result }) => String(Object(result.value)["stdout"])),
  };
}

/** Whether the workspace itself sent the request, to run Python. */
export function isWorkspaceRequest({ path, body }: InterceptedRequest): boolean {
  return path === "/responses" && Object(body["tool_choice"]).type === "code_interpreter";
}

async function startProxy(
  to: string,
  answer: (request: InterceptedRequest) => Promise<InterceptedResponse>,
): Promise<string> {
  const server = createServer((request, response) => {
    handleRequest(request, response).catch(() => void response.destroy());
  });

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const { status, body, headers } = await answer(parseRequest(request, bytes, to));
    const type = typeof body === "string" ? "application/json" : "application/octet-stream";
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
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

function parseRequest(request: IncomingMessage, bytes: Buffer, to: string): InterceptedRequest {
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
    async forward() {
      const given = await fetch(`${to}${path}${search}`, {
        method,
        headers: kept,
        ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
      });
      const answered = given.headers.get("content-type") ?? "";
      const isText = /^(?:application\/json|text\/event-stream)/.test(answered);
      const body = isText ? await given.text() : new Uint8Array(await given.arrayBuffer());
      return { status: given.status, body, headers: { "content-type": answered } };
    },
  };
}
