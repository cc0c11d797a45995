import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

/** A local provider in a separate process, which ends with the test. */
export interface ServedProvider {
  /** The base URL of OpenAI's API. It ends in `/v1`. */
  readonly url: string;
  /** The base URL of Anthropic's API: the same without `/v1`. */
  readonly anthropicUrl: string;
  /** The requests so far, each with its method, path and status, as the server prints them. */
  readonly requests: readonly string[];
}

/** One inner array of actions per model call, as in a JSON file for `wink serve --model`. */
export type Script = readonly (readonly object[])[];

/** Options of {@link serve}. */
export interface ServeOptions {
  /** The pages for web search, by path. @default none */
  readonly pages?: Readonly<Record<string, string>>;
}

/** Starts `wink serve` from the sources, as users start it, with a script as its model. */
export async function serve(script: Script, { pages }: ServeOptions = {}): Promise<ServedProvider> {
  const files = { "script.json": JSON.stringify(script), ...prefixPaths("web", pages ?? {}) };
  const folder = await createTemporaryFolder(files);
  const web = pages === undefined ? [] : ["--web", join(folder, "web")];
  const model = ["--model", join(folder, "script.json")];
  const server = spawn(
    process.execPath,
    [MAIN, "serve", "--port", "0", "--json", ...model, ...web],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => stopServer(server));
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const first = await readFirstLine(lines, server);
  const { url } = JSON.parse(first) as { readonly url: string };
  const requests: string[] = [];
  void collectRequests(lines, requests);
  return { url, anthropicUrl: url.replace(/\/v1$/, ""), requests };
}

const MAIN = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

/** Creates a folder with these files. It is deleted when the test ends. */
export async function createTemporaryFolder(
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-clients-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

function prefixPaths(prefix: string, files: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${prefix}/${path}`, text] as const),
  );
}

/** Returns the line with the server's URL. Throws with its error output if it ends before. */
async function readFirstLine(
  lines: AsyncIterator<string>,
  { stderr }: ChildProcessByStdio<null, Readable, Readable>,
): Promise<string> {
  let errors = "";
  stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-10_000);
  });
  const { value, done } = await lines.next();
  if (!done) return value;
  throw new Error(`wink serve ended without printing its URL: ${errors}`);
}

async function collectRequests(lines: AsyncIterator<string>, requests: string[]): Promise<void> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const { method, path, status } = Object(JSON.parse(line.value).request);
    requests.push(`${method} ${path} ${status}`);
  }
}

/** Ends the server like a user, with a signal. It must end without an error. */
async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode === null) {
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    server.kill("SIGTERM");
    await ended;
  }
  expect(server.exitCode).toBe(0);
}
