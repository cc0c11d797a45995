import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  LocalProvider,
  type ModelAction,
  type ModelOptions,
  type ModelRequest,
} from "../../src/local/index.ts";
import { createPasteProject, type PasteProject } from "../support/documents/paste-project.ts";
import {
  bundleWorker,
  edgeMissing,
  type Miniflare,
  startWorker,
} from "../support/edge/edge-runtime.ts";

test("the bundler and workerd of tests/edge are installed", ({ skip }) => {
  if (edgeMissing !== null && process.env["CI"] !== "true") skip(edgeMissing);
  expect(edgeMissing).toBe(null);
});

const NODE_ONLY =
  'Node, and this bundle was built for an edge runtime or a browser. Run it on Node, in a bundle without the conditions "workerd", "edge-light", "worker" or "browser".';

describe.skipIf(edgeMissing !== null)("The packed package in workerd", () => {
  const provider = new LocalProvider({ model: { respond: answer } });
  const workers: Miniflare[] = [];
  let example: string;
  let project: PasteProject;

  beforeAll(async () => {
    project = await createPasteProject();
    const env = { OPENAI_API_KEY: "local", OPENAI_BASE_URL: (await provider.listen()).url };
    const codes: string[] = [];
    for (const source of [await readExample(), await readSource("features-worker.ts")]) {
      const { folder, file } = await project.paste(source, [], "ts");
      const entry = join(folder, file);
      example ??= entry;
      const { code } = await bundleWorker(entry);
      workers.push(await startWorker(code, env));
      codes.push(code);
    }
    workers.push(await startWorker(codes[1] ?? "", env, ["nodejs_compat"]));
  }, 300_000);
  afterAll(async () => {
    for (const worker of workers) await worker.dispose();
    await provider.close();
    await project[Symbol.asyncDispose]();
  });

  async function post(worker: number, path: string, body = "How many?"): Promise<Response> {
    const found = workers[worker];
    if (!found) throw new Error("The worker has not been started");
    return await found.dispatchFetch(`https://bakery.example${path}`, { method: "POST", body });
  }

  test.each(["workerd", "edge-light", "worker", "browser"])(
    "is bundled without imports for the condition %s",
    async (condition) => {
      const { imports, code } = await bundleWorker(example, { conditions: [condition] });
      expect(imports).toEqual([]);
      expect(code).toContain("count_loaves");
    },
  );

  test("has the size that the guide states", async () => {
    const guide = await readSource("../../docs/guides/edge.md");
    const stated = /(?<minified>\d+) kB minified, (?<zipped>\d+) kB with gzip/.exec(guide)?.groups;
    const { code } = await bundleWorker(example, { conditions: ["workerd"], minify: true });
    const minified = Buffer.byteLength(code) / 1000;
    expect(Math.abs(minified / Number(stated?.["minified"]) - 1)).toBeLessThan(0.05);
    const zipped = gzipSync(code).length / 1000;
    expect(Math.abs(zipped / Number(stated?.["zipped"]) - 1)).toBeLessThan(0.05);
  });

  test("answers with a tool's result", async () => {
    expect(await (await post(0, "/")).json()).toEqual({ text: "Bake 12 loaves of rye." });
  });

  test("delivers an answer in parts, and stops the model after the client has left", async () => {
    const response = await post(0, "/stream", "How many? Take your time.");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("Bake 12")) text += (await reader?.read())?.value;
    expect(text).not.toContain("event: response");
    await reader?.cancel();
    // workerd notices that a client has left when it writes to it: a comment, after 15 seconds without an event.
    await expect.poll(() => stops).toBe(1);
  });

  test("streams a whole answer with its usage", async () => {
    const text = await (await post(0, "/stream")).text();
    expect(text).toContain('event: response\ndata: {"text":"Bake 12 loaves of rye."');
  });

  test.each([
    ["without nodejs_compat", 1],
    ["with nodejs_compat", 2],
  ])("keeps an adapter between requests that run at the same time, %s", async (_, worker) => {
    const paths = ["/continue", "/attach-bytes", "/continue", "/upload-bytes", "/continue"];
    const results = await Promise.all(paths.map(async (path) => (await post(worker, path)).json()));
    // The sale of wheat bread failed and was rolled back.
    const continued = { value: { sold: ["rye"], text: "There are 2 user messages." } };
    expect(results).toEqual([
      continued,
      { value: "data:image/png" },
      continued,
      { value: "month,loaves\n" },
      continued,
    ]);
  });

  test("runs an evaluation inside a tool handler, with and without AsyncLocalStorage", async () => {
    expect(await (await post(1, "/nested")).json()).toEqual({ value: "Asked.", hooks: false });
    expect(await (await post(2, "/nested")).json()).toEqual({ value: "Asked.", hooks: true });
  });

  test("stops at a deadline", async () => {
    expect(await (await post(1, "/deadline")).json()).toMatchObject({
      name: "DeadlineExceededError",
    });
  });

  test.each([
    ["/no-key", "OPENAI_API_KEY"],
    ["/workspace", `OpenAIContainerWorkspaceSection needs ${NODE_ONLY}`],
    ["/host-mounts", `Hosted tool "code_interpreter" has hostMounts, which need ${NODE_ONLY}`],
    ["/attach-path", 'This runtime has no file system, so "bread.png" cannot be opened.'],
    ["/upload-path", 'This runtime has no file system, so "sales.csv" cannot be opened.'],
  ])("explains what is missing at %s", async (path, message) => {
    const problem = await (await post(1, path)).json();
    expect(problem).toMatchObject({ message: expect.stringContaining(message) });
  });
});

/** The worker of examples/edge.ts, as its comment says it is deployed. */
async function readExample(): Promise<string> {
  const source = await readSource("../../examples/edge.ts");
  const [worker = "", rest] = source.split("\n// The rest calls the worker in Node.");
  expect(rest).toContain("`export default worker;`");
  return `${worker.replace(/^import .* from "weakincentives\/local";\n/m, "")}\nexport default worker;\n`;
}

async function readSource(path: string): Promise<string> {
  return await readFile(fileURLToPath(new URL(path, import.meta.url)), "utf8");
}

/** How many answers have ended because their client left. */
let stops = 0;

/** Answers from what the worker has sent, so that each answer shows a feature. */
async function answer(
  { text, items }: ModelRequest,
  { signal, onPart }: ModelOptions = {},
): Promise<readonly ModelAction[]> {
  const outputs = items.filter((item) => "type" in item && item.type === "function_call_output");
  switch (text) {
    case "What is attached?":
      return [{ say: /data:image\/png/.exec(JSON.stringify(items))?.[0] ?? "nothing" }];
    case "How many messages are there?": {
      const messages = items.filter((item) => "role" in item && item.role === "user");
      return [{ say: `There are ${messages.length} user messages.` }];
    }
    case "Sell wheat and rye.": {
      const kind = ["wheat", "rye"][outputs.length];
      return kind ? [{ call: { name: "sell", args: { kind } } }] : [{ say: "Done." }];
    }
    case "Ask.":
      return [outputs.length === 0 ? { call: { name: "ask", args: {} } } : { say: "Asked." }];
    case "Wait.":
      return [{ stall: 600_000 }];
  }
  if (outputs.length === 0) return [{ call: { name: "count_loaves", args: { kind: "rye" } } }];
  const left = Number(/left\\*":(?<left>\d+)/.exec(JSON.stringify(outputs))?.groups?.["left"]);
  const say = `Bake ${15 - left} loaves of rye.`;
  if (text === "How many? Take your time.") {
    await onPart?.({ say });
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    stops += 1;
  }
  return [{ say }];
}
