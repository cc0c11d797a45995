import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { findRequestProblems } from "../openapi.ts";
import type { SeenRequest } from "../wire-server.ts";

/** A server in front of another that records all traffic. */
export interface Relay extends AsyncDisposable {
  /** `http://127.0.0.1:port/v1`. */
  readonly url: string;
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Violations of OpenAI's own API description, if it is available. */
  readonly problems: readonly string[];
}

/**
 * Forwards all traffic to `to`. If the upstream connection breaks, the client's connection is closed
 * too.
 */
export async function startRelay(to: string, fetch: typeof globalThis.fetch): Promise<Relay> {
  const requests: SeenRequest[] = [];
  const problems: string[] = [];
  const server = createServer((request, response) => {
    forward(request, response).catch(() => void response.destroy());
  });

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const bytes = await buffer(request);
    const seen = toSeenRequest(request, bytes);
    const { method, path, query, body, text } = seen;
    const what = `request ${requests.push(seen)}, ${method} ${path}`;
    const found = findRequestProblems(method, path, isJson(request) ? body : undefined) ?? [];
    problems.push(...found.map((problem) => `${what}: ${problem}`));
    const answer = await fetch(`${to}${path}${query.size > 0 ? `?${query}` : ""}`, {
      method,
      headers: selectHeaders(Object.entries(request.headers)),
      signal: gone.signal,
      ...(text === "" ? {} : { body: new Uint8Array(bytes) }),
    });
    const whole = new Uint8Array(await answer.arrayBuffer());
    response.writeHead(answer.status, selectHeaders([...answer.headers])).end(whole);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    problems,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
    },
  };
}

function toSeenRequest(request: IncomingMessage, bytes: Buffer): SeenRequest {
  const { method = "", headers } = request;
  const { pathname, searchParams: query } = new URL(request.url ?? "", "http://127.0.0.1");
  const path = pathname.replace(/^\/v1(?=\/)/, "");
  const text = bytes.toString();
  const body: unknown = isJson(request) && text !== "" ? JSON.parse(text) : {};
  return { method, path, query, headers, body: isPlainObject(body) ? body : {}, text };
}

function isJson({ headers }: IncomingMessage): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}

/** Hop-by-hop headers apply to one connection only. */
const ofConnection = new Set(
  "connection host keep-alive transfer-encoding content-length expect upgrade".split(" "),
);

function selectHeaders(
  headers: readonly (readonly [string, string | readonly string[] | undefined])[],
): Record<string, string> {
  const kept = headers.filter(([name]) => !ofConnection.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
