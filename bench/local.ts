/**
 * Compares the local provider with its bare parts in one run: a plain turn with a bare hono route that
 * sends the same bytes, a warm line of Python with a bare interpreter, a cold container with a bare
 * bubblewrap and Python, and memory over ten thousand turns. Run it with `--expose-gc`.
 */
import { type ChildProcessWithoutNullStreams, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { type LocalModel, LocalProvider } from "weakincentives/local";
import { compareSides, createValue, type Figure } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const TURNS = 500;

const body = JSON.stringify({ model: "local", input: "Hello", store: false });
const headers = { "content-type": "application/json" };
const post = async (url: string, text = body) => {
  const response = await fetch(`${url}/responses`, { method: "POST", headers, body: text });
  return await response.text();
};

/** A model that answers, or runs the code after `code:` in the request's text. */
const model: LocalModel = {
  respond: async ({ text, items }) => {
    const ran = items.some((item) => "type" in item && item.type === "code_interpreter_call");
    return text.startsWith("code:") && !ran ? [{ code: text.slice(5) }] : [{ say: "Hello." }];
  },
};

await using provider = new LocalProvider({ model });
const { url } = await provider.listen();
const { name } = await provider.sandbox();

const bytes = await post(url);
const bare = new Hono().post("/v1/responses", async (context) => {
  await context.req.text();
  return context.body(bytes, 200, { "content-type": "application/json" });
});
// A fair comparison: do not let the adapter replace the global Request and Response.
const server = createAdaptorServer({ fetch: bare.fetch, overrideGlobalObjects: false });
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const bareUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;

// This process serves both. Another process sends the requests, alternating, after a warm-up.
const load = fork(new URL("turn-load.ts", import.meta.url));
load.once("exit", (code) => {
  if (code !== null) throw new Error("A turn was not answered");
});

/** Turns per second of wall time, and per second of this process's CPU time. */
async function measureRate(target: string, turns = TURNS) {
  const used = process.cpuUsage();
  load.send({ url: `${target}/responses`, body, turns });
  const [perSecond] = await once(load, "message");
  const { user, system } = process.cpuUsage(used);
  return { perSecond: Number(perSecond), perOwnSecond: (1e6 * turns) / (user + system) };
}

await measureRate(url, 10_000);
await measureRate(bareUrl, 10_000);
const rates: Record<"ours" | "bare", Awaited<ReturnType<typeof measureRate>>>[] = [];
for (let round = 0; round < countRounds(60); round++) {
  rates.push({ ours: await measureRate(url), bare: await measureRate(bareUrl) });
}
load.kill();
server.close();
const compareRates = (what: string, key: "perSecond" | "perOwnSecond", goal: number | null) =>
  compareSides(
    { what, unit: "/s", goal, isAtLeast: true },
    rates.map(({ ours, bare: other }) => ({ ours: ours[key], reference: other[key] })),
  );
const figures: Figure[] = [
  compareRates("plain turns a second to a bare hono route", "perSecond", 0.8),
  compareRates("plain turns to a bare hono route, by CPU time", "perOwnSecond", null),
];

const tool = { type: "code_interpreter" };
const created = await fetch(`${url}/containers`, {
  method: "POST",
  headers,
  body: JSON.stringify({ name: "bench" }),
});
const { id } = (await created.json()) as { readonly id: string };
const createCodeRequest = (container: unknown) =>
  JSON.stringify({
    model: "local",
    store: false,
    input: "code:sum(range(100))",
    tools: [{ ...tool, container }],
  });

const python = spawn("/usr/bin/python3", ["-u", "-c", pythonLoop()]);
const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
// Warm-up, as for plain turns.
for (let round = 0; round < 3 * TURNS; round++) {
  await post(url, createCodeRequest(id));
  await askPython(python, lines);
}
const warm = [];
for (let round = 0; round < 200; round++) {
  const one = performance.now();
  await post(url, createCodeRequest(id));
  const two = performance.now();
  await askPython(python, lines);
  const three = performance.now();
  await post(url);
  warm.push({ ours: two - one, bare: three - two, turn: performance.now() - three });
}
python.kill();
const isBubblewrap = name === "bubblewrap";
figures.push(
  compareSides(
    {
      what: `a warm line of Python in ${name} to a bare interpreter, the turn itself taken off`,
      unit: "ms",
      goal: isBubblewrap ? 3 : null,
    },
    warm.map(({ ours, bare: reference, turn }) => ({ ours: ours - turn, reference })),
  ),
);

if (isBubblewrap && existsSync("/usr/bin/bwrap")) {
  const cold = [];
  for (let round = 0; round < countRounds(7); round++) {
    const one = performance.now();
    await post(url, createCodeRequest({ type: "auto" }));
    const two = performance.now();
    bareContainer();
    cold.push({ ours: two - one, reference: performance.now() - two });
  }
  figures.push(
    compareSides(
      { what: "a cold container to a bare bubblewrap with Python", unit: "ms", goal: 1.5 },
      cold,
    ),
  );
}

const before = await measureSettledMemory();
for (let turn = 0; turn < 10_000; turn += 50) {
  await Promise.all(Array.from({ length: 50 }, () => post(url)));
}
const grown = ((await measureSettledMemory()) - before) / 2 ** 20;
figures.push(
  createValue(
    { what: "heap that ten thousand turns add", unit: "MB", goal: 10 },
    Math.max(0, grown),
  ),
);
printResult({ figures });

function pythonLoop(): string {
  return "import sys\nscope = {}\nfor line in sys.stdin:\n    exec(line, scope)\n    print('.', flush=True)";
}

async function askPython(
  { stdin }: ChildProcessWithoutNullStreams,
  answers: AsyncIterator<string>,
): Promise<void> {
  stdin.write("sum(range(100))\n");
  await answers.next();
}

function bareContainer(): void {
  const folder = mkdtempSync(join(tmpdir(), "wink-bench-"));
  spawnSync("/usr/bin/bwrap", [
    ...["--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"],
    ...[
      "--symlink",
      "usr/bin",
      "/bin",
      "--symlink",
      "usr/lib",
      "/lib",
      "--symlink",
      "usr/lib64",
      "/lib64",
    ],
    ...["--proc", "/proc", "--dev", "/dev", "--bind", folder, "/mnt/data", "--chdir", "/mnt/data"],
    ...["/usr/bin/python3", "-c", "import json, io, os, traceback, ast; print(sum(range(100)))"],
  ]);
  rmSync(folder, { recursive: true });
}

async function measureSettledMemory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage().heapUsed;
}
