/**
 * A model server in a process of its own: `node tests/support/upstream-server.ts SCRIPT`, where the script is
 * a JSON list with one answer for each request. Tests start it with `upstreamServer`.
 */
import { fork } from "node:child_process";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** What the server does with one request. */
export type UpstreamStep =
  /** A chat completion with this message. */
  | { readonly message: object }
  /** A response with these items. */
  | { readonly output: readonly object[] }
  /** Any body at all; a text goes as it is. */
  | {
      readonly body: unknown;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Never answers, or ends the connection, before or within the answer. */
  | { readonly stall: "before" | "within" }
  | { readonly drop: true };

/** A request as the server saw it. */
export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The process that answered: not this one. */
  readonly pid: number;
}

/** A running server. */
export interface UpstreamServer extends AsyncDisposable {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly pid: number;
  /** Goes on with these answers instead, and forgets what it saw. */
  play(steps: readonly UpstreamStep[]): Promise<void>;
  /** What was asked since the script began. */
  requests(): Promise<readonly UpstreamRequest[]>;
  /** How often a client went away before it was answered. */
  gone(): Promise<number>;
}

/** Starts a server; it ends when it is disposed of, and with this process in any case. */
export async function upstreamServer(steps: readonly UpstreamStep[] = []): Promise<UpstreamServer> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(steps)], { execArgv: [] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve(Number(message)));
    child.once("exit", (code) => reject(new Error(`the upstream server ended with ${code}`)));
    child.once("error", reject);
  });
  const origin = `http://127.0.0.1:${port}`;
  const look = async (init?: RequestInit): Promise<Seen> => {
    const response = await fetch(`${origin}/script`, init);
    return (await response.json()) as Seen;
  };
  return {
    url: `${origin}/v1`,
    pid: child.pid ?? 0,
    async play(next) {
      await look({ method: "PUT", body: JSON.stringify(next) });
    },
    requests: async () => (await look()).requests,
    gone: async () => (await look()).gone,
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

if (import.meta.main) {
  let script: readonly UpstreamStep[] = JSON.parse(process.argv[2] ?? "[]");
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
      answer(response, { body: { requests, gone } });
      return;
    }
    response.once("close", () => {
      if (!response.writableFinished) gone += 1;
    });
    const step = script[requests.length];
    requests.push({ method, path, headers, body: JSON.parse(written), pid: process.pid });
    answer(response, step ?? { body: { error: { message: "no step left" } }, status: 500 });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.(typeof address === "object" ? address?.port : 0);
  });
  process.once("disconnect", () => process.exit());
}

function answer(response: ServerResponse, step: UpstreamStep): void {
  if ("stall" in step) {
    if (step.stall === "within") response.writeHead(200).write('{"choices":');
  } else if ("drop" in step) response.destroy();
  else if ("body" in step) {
    const { status = 200, headers = {}, body } = step;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  } else answer(response, { body: completed(step) });
}

function completed(
  step: Exclude<UpstreamStep, { body: unknown } | { stall: unknown } | { drop: unknown }>,
) {
  if ("output" in step) return { id: "resp_1", object: "response", status: "completed", ...step };
  const message = { role: "assistant", ...step.message };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "chatcmpl-1", object: "chat.completion", model: "test", choices };
}
