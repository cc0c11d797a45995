/**
 * A model server in its own process: `node tests/support/upstream-server.ts SCRIPT`. The script is a JSON array
 * with one answer per request. Tests start it with `upstreamServer`.
 */
import { fork } from "node:child_process";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { findTemplateProblem } from "./strict-template.ts";

/** The server's reaction to one request. */
export type UpstreamStep =
  /** Answers with a chat completion that has this message. */
  | { readonly message: object }
  /** Answers with a response that has these items. */
  | { readonly output: readonly object[] }
  /** Answers with any body. A string is sent unchanged. */
  | {
      readonly body: unknown;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Streams the data of these events. After each group but the last, it waits for `release`. */
  | { readonly groups: readonly (readonly unknown[])[] }
  /** Never answers, or closes the connection, before or within the answer. */
  | { readonly stall: "before" | "within" }
  | { readonly drop: true };

/** A request that the server received. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The id of the process that answered. */
  readonly pid: number;
}

/** A running server. */
export interface UpstreamServer extends AsyncDisposable {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly pid: number;
  /** Continues with these answers, and discards the recorded requests. */
  play(steps: readonly UpstreamStep[]): Promise<void>;
  /** Returns the requests since the script started. */
  requests(): Promise<readonly UpstreamRequest[]>;
  /** Continues a stream that waits after a group of events. */
  release(): Promise<void>;
  /** Returns how often a client disconnected before the answer. */
  gone(): Promise<number>;
}

/** Options of {@link startUpstreamServer}. */
export interface UpstreamServerOptions {
  /** Whether the model has the strictest chat template, and the server answers 400 to refused messages. @default false */
  readonly strict?: boolean;
}

/** Starts a server. It ends on disposal, or with this process at the latest. */
export async function startUpstreamServer(
  steps: readonly UpstreamStep[] = [],
  { strict = false }: UpstreamServerOptions = {},
): Promise<UpstreamServer> {
  const options = [JSON.stringify(steps), ...(strict ? ["strict"] : [])];
  const child = fork(fileURLToPath(import.meta.url), options, { execArgv: [] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve(Number(message)));
    child.once("exit", (code) => reject(new Error(`the upstream server ended with ${code}`)));
    child.once("error", reject);
  });
  const origin = `http://127.0.0.1:${port}`;
  const fetchState = async (init?: RequestInit): Promise<Seen> => {
    const response = await fetch(`${origin}/script`, init);
    return (await response.json()) as Seen;
  };
  return {
    url: `${origin}/v1`,
    pid: child.pid ?? 0,
    async play(next) {
      await fetchState({ method: "PUT", body: JSON.stringify(next) });
    },
    async release() {
      await fetchState({ method: "POST" });
    },
    requests: async () => (await fetchState()).requests,
    gone: async () => (await fetchState()).gone,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
    },
  };
}

interface Seen {
  readonly requests: readonly UpstreamRequest[];
  readonly gone: number;
}

let released = Promise.withResolvers<void>();

if (import.meta.main) {
  let script: readonly UpstreamStep[] = JSON.parse(process.argv[2] ?? "[]");
  const isStrict = process.argv[3] === "strict";
  let requests: UpstreamRequest[] = [];
  let gone = 0;
  const server = createServer(async (incoming, response) => {
    const { method = "", url: path = "", headers } = incoming;
    const written = await text(incoming);
    if (path === "/script") {
      if (method === "PUT") {
        script = JSON.parse(written);
        [requests, gone] = [[], 0];
      }
      if (method === "POST") released.resolve();
      sendAnswer(response, { body: { requests, gone } });
      return;
    }
    const current = requests;
    response.once("close", () => {
      // A request of an earlier script may end late.
      if (!response.writableFinished && current === requests) gone += 1;
    });
    const step = script[requests.length];
    const body = JSON.parse(written);
    requests.push({ method, path, headers, body, pid: process.pid });
    const problem = isStrict ? findTemplateProblem(body) : null;
    if (problem !== null)
      sendAnswer(response, { body: { error: { message: problem } }, status: 400 });
    else if (step && "groups" in step) await sendStream(response, step.groups);
    else
      sendAnswer(response, step ?? { body: { error: { message: "no step left" } }, status: 500 });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.(typeof address === "object" ? address?.port : 0);
  });
  process.once("disconnect", () => process.exit());
}

async function sendStream(
  response: ServerResponse,
  groups: readonly (readonly unknown[])[],
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [place, group] of groups.entries()) {
    if (place > 0) await released.promise;
    released = Promise.withResolvers();
    const lines = group.map((data) => (typeof data === "string" ? data : JSON.stringify(data)));
    response.write(lines.map((line) => `data: ${line}\n\n`).join(""));
  }
  response.end();
}

function sendAnswer(
  response: ServerResponse,
  step: Exclude<UpstreamStep, { groups: unknown }>,
): void {
  if ("stall" in step) {
    if (step.stall === "within") response.writeHead(200).write('{"choices":');
  } else if ("drop" in step) response.destroy();
  else if ("body" in step) {
    const { status = 200, headers = {}, body } = step;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  } else sendAnswer(response, { body: createCompletion(step) });
}

function createCompletion(step: Extract<UpstreamStep, { message: unknown } | { output: unknown }>) {
  if ("output" in step) return { id: "resp_1", object: "response", status: "completed", ...step };
  const message = { role: "assistant", ...step.message };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "chatcmpl-1", object: "chat.completion", model: "test", choices };
}
