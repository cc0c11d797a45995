/**
 * Compares a container workspace with bare parts in one run: uploading files with GNU tar and one upload
 * by a bare client, downloading changed files with bare parallel downloads, and the memory that a mount
 * of 500 MB adds. Run it with `--expose-gc`. Needs GNU tar; the provider runs in a separate process.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openAsBlob, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { Prompt, PromptTemplate, Session } from "weakincentives";
import {
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
  openAIClient,
} from "weakincentives/openai";
import { median } from "./median.ts";
import { compareSides, createValue } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const FILES = 2_000;
const FILE_BYTES = 30_000;
const CHANGED = 1_000;
const ROUNDS = countRounds(5);
const AT_ONCE = 8;
const MEGABYTE = 2 ** 20;

const home = mkdtempSync(join(tmpdir(), "wink-bench-"));
const tree = join(home, "tree");
for (let file = 0; file < FILES; file++) {
  const folder = join(tree, `folder-${file % 50}`);
  mkdirSync(folder, { recursive: true });
  const letter = String.fromCharCode(97 + (file % 26));
  writeFileSync(join(folder, `file-${file}.txt`), letter.repeat(FILE_BYTES));
}
const change = `import glob
for path in sorted(glob.glob("/mnt/data/tree/*/*.txt"))[:${CHANGED}]:
    open(path, "a").write("changed")
None`;
const script = join(home, "script.json");
writeFileSync(
  script,
  JSON.stringify(
    Array.from({ length: 2 * ROUNDS + 2 }, (_, turn) =>
      turn % 2 === 0 ? [{ code: change }] : [{ say: "Done." }],
    ),
  ),
);

const serving = spawn(
  process.execPath,
  ["dist/cli/main.js", "serve", "--port", "0", "--json", "--model", script],
  {
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
const { url } = JSON.parse((await lines.next()).value ?? "{}") as { readonly url: string };
const clientConfig = { baseURL: url, apiKey: "local" };

try {
  const ups = [];
  for (let round = 0; round <= ROUNDS; round++) ups.push(await bringUp());
  const backs = [];
  for (let round = 0; round <= ROUNDS; round++) backs.push(await bringBack());
  const [up, back] = [ups.slice(1), backs.slice(1)]; // the first rounds warm up
  const stalls = up.map(({ stall }) => stall);
  printResult({
    figures: [
      compareSides(
        {
          what: `mounting ${FILES} files of 60 MB, from the folder to uploaded, to GNU tar and one bare upload`,
          unit: "ms",
          goal: 2,
        },
        up,
      ),
      createValue(
        { what: "longest stall of the event loop during that", unit: "ms", goal: 20 },
        median(stalls),
      ),
      compareSides(
        {
          what: `syncing ${CHANGED} changed files to bare downloads, ${AT_ONCE} at once`,
          unit: "ms",
          goal: 1.5,
        },
        back,
      ),
      createValue(
        { what: "memory that a mount of 500 MB adds at most", unit: "MB", goal: 64 },
        await measureMemoryRise(),
      ),
    ],
  });
} finally {
  serving.kill("SIGINT");
  rmSync(home, { recursive: true, force: true });
}

function createSection(hostPath: string): OpenAIContainerWorkspaceSection {
  return new OpenAIContainerWorkspaceSection({
    session: new Session(),
    mounts: [{ hostPath }],
    allowedHostRoots: "any",
    client: openAIClient(clientConfig),
    deleteOnCleanup: true,
  });
}

async function bringUp() {
  const section = createSection(tree);
  await section.ready();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.reset();
  const started = performance.now();
  await section.filesystem.ensureContainer();
  const ours = performance.now() - started;
  delay.disable();
  const reference = await bareUpload(section.tempDir);
  await section.cleanup();
  return { ours, reference, stall: delay.max / 1e6 };
}

async function bareUpload(folder: string): Promise<number> {
  const started = performance.now();
  const { id } = await postJson("/containers", { name: "bare" });
  const tar = join(home, "bare.tar");
  spawnSync("tar", ["-cf", tar, "-C", folder, "."]);
  const form = new FormData();
  form.set("file", new File([await openAsBlob(tar)], "bare.tar"));
  const response = await fetch(`${url}/containers/${id}/files`, { method: "POST", body: form });
  await response.text();
  const took = performance.now() - started;
  await fetch(`${url}/containers/${id}`, { method: "DELETE" });
  return took;
}

/** Downloads the files that code changed. The workspace compares, packs and verifies; the bare client only downloads. */
async function bringBack() {
  const session = new Session();
  const section = createSection(tree);
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig,
    hostedTools: { codeInterpreter: true },
  });
  const template = new PromptTemplate({ ns: "bench", key: "back", sections: [section] });
  await adapter.evaluate(new Prompt(template), { session });
  const id = section.containerId ?? "";
  const started = performance.now();
  await section.filesystem.exists("tree"); // downloads the files that code changed
  const ours = performance.now() - started;
  const files = await listChangedFiles(id);
  if (files.length !== CHANGED) throw new Error(`${files.length} files were changed`);
  const bareStarted = performance.now();
  const folder = mkdtempSync(join(home, "bare-"));
  const left = files.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [place, file] of left) {
        const response = await fetch(`${url}/containers/${id}/files/${file}/content`);
        await writeFile(join(folder, String(place)), new Uint8Array(await response.arrayBuffer()));
      }
    }),
  );
  const reference = performance.now() - bareStarted;
  await section.cleanup();
  return { ours, reference };
}

async function listChangedFiles(id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after = ""; ; ) {
    const query = `limit=100&order=asc${after === "" ? "" : `&after=${after}`}`;
    const page = (await (await fetch(`${url}/containers/${id}/files?${query}`)).json()) as {
      readonly data: readonly { readonly id: string; readonly bytes: number }[];
      readonly has_more: boolean;
      readonly last_id: string;
    };
    found.push(...page.data.filter(({ bytes }) => bytes === FILE_BYTES + 7).map((file) => file.id));
    if (!page.has_more) return found;
    after = page.last_id;
  }
}

async function postJson(path: string, body: object): Promise<{ readonly id: string }> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return (await (await fetch(url + path, init)).json()) as { readonly id: string };
}

async function measureMemoryRise(): Promise<number> {
  const large = join(home, "large");
  mkdirSync(large);
  const part = Buffer.alloc(50 * MEGABYTE, "wink");
  for (let file = 0; file < 10; file++) writeFileSync(join(large, `file-${file}.bin`), part);
  const section = createSection(large);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 5);
  await section.filesystem.ensureContainer();
  clearInterval(watch);
  await section.cleanup();
  return (most - before) / MEGABYTE;
}
