import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type CassetteOptions, cassette } from "../../../src/testing/cassette/cassette.ts";

/** Creates a folder that is deleted when the test ends. */
export function createCassetteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-cassette-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Serves HTTP on a free port until the test ends. `close` stops it earlier. */
export async function serveHttp(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close };
}

/** A `fetch` that fails the test: a replayed run must not use the network. */
export const noNetwork: Fetch = async (input) => {
  throw new Error(`A request was sent to ${String(input)}`);
};

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** Creates the options of a request with JSON. */
export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** Records requests against a `fetch` in this process. */
export async function record(
  answer: Fetch,
  run: (fetch: Fetch) => Promise<unknown>,
  options: CassetteOptions = {},
) {
  const path = join(createCassetteFolder(), "run.jsonl");
  const tape = cassette(path, { mode: "record", fetch: answer, ...options });
  await run(tape.fetch);
  await tape.close();
  return path;
}

/** Answers with the body of the request. */
export const echo: Fetch = async (_, init) =>
  new Response(init?.body ?? null, { headers: { "x-request-id": "r" } });
