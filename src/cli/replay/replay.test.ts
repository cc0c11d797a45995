import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  createCassetteFolder,
  type Fetch,
  post,
  record,
} from "../../../tests/support/cassette/cassette-fixture.ts";
import { type ReplayOptions, replay } from "./replay.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command in this process and returns its output. */
async function print(file: string, options: Partial<ReplayOptions> = {}): Promise<string> {
  let out = "";
  const log = vi.spyOn(console, "log").mockImplementation((line) => {
    out += `${line}\n`;
  });
  await replay(file, { json: false, test: false, ...options }).finally(() => log.mockRestore());
  return out;
}

const createResponse = (output: readonly object[], fields: object = {}) => ({
  ...{ id: "resp_1", object: "response", model: "gpt-5.2", status: "completed", output },
  usage: { input_tokens: 20, output_tokens: 5 },
  ...fields,
});
const createMessage = (text: string) => ({
  type: "message",
  content: [{ type: "output_text", text }],
});
const toStream = (type: string, response: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, response })}\n\n`;

/** Records one exchange for each answer. A path other than `/responses` is in `path`. */
async function recordAnswers(
  ...answers: readonly {
    readonly path?: string;
    readonly init?: RequestInit;
    readonly answer?: Response | object | string | Error;
  }[]
): Promise<string> {
  const queue = [...answers];
  const next: Fetch = async () => {
    const answer = queue.shift()?.answer ?? {};
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    const isText = typeof answer === "string";
    const headers = { "content-type": isText ? "text/event-stream" : "application/json" };
    return new Response(isText ? answer : JSON.stringify(answer), { headers });
  };
  return await record(next, async (fetch) => {
    for (const { path = "/v1/responses", init } of answers) {
      const sent = fetch(`http://h${path}`, init ?? post({ model: "gpt-5.2", input: "Rye?" }));
      await sent.then((response) => response.arrayBuffer()).catch(() => {});
    }
  });
}

describe("wink replay", () => {
  test("prints exchanges with times, sizes and tokens, turns, files and the answer", async () => {
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new File(["abc"], "a.csv"));
    const call = { type: "function_call", name: "count_loaves", arguments: '{"kind":"rye"}' };
    const code = { type: "code_interpreter_call" };
    const file = await recordAnswers(
      { path: "/v1/files", init: { method: "POST", body: form }, answer: { id: "file_1" } },
      { answer: createResponse([call, code], { id: "resp_1" }) },
      {
        answer: toStream(
          "response.completed",
          createResponse([createMessage("Bake\n12.")], { id: "resp_2" }),
        ),
      },
      { path: "/v1/containers/c_1/files/f_1/content", init: {}, answer: new Response("data") },
    );
    const lines = (await print(file)).replaceAll(/ \d+\.\ds/g, " 0.0s").split("\n");
    expect(lines[0]).toMatch(/run\.jsonl: 4 exchanges, 40\+10 tokens, recorded 20\S+ with \d/);
    expect(lines.slice(1)).toEqual([
      "",
      "    0.0s  POST /v1/files 200  sent 12, received 15 bytes",
      expect.stringMatching(
        /^ {4}0\.0s {2}POST \/v1\/responses 200 {2}sent 34, received \d+ bytes, 20\+5 tokens$/,
      ),
      "          uses  code_interpreter",
      '          calls count_loaves {"kind":"rye"}',
      expect.stringMatching(/POST \/v1\/responses 200/),
      "          says  Bake 12.",
      "    0.0s  GET /v1/containers/c_1/files/f_1/content 200  sent 0, received 4 bytes",
      "",
      "Uploaded files",
      "  a.csv 3",
      "",
      "Downloaded files",
      "  /v1/containers/c_1/files/f_1/content 4",
      "",
      "Answer",
      "  Bake",
      "  12.",
      "",
    ]);
  });

  test("--json prints one document with turns, usage and answer, without a workspace's own requests", async () => {
    const own = post({
      input: [{ role: "user", content: "Run this Python code once, unmodified, and" }],
    });
    const file = await recordAnswers(
      {
        answer: createResponse([{ type: "custom_tool_call", name: "shout", input: "hi" }], {
          id: "resp_a",
          status: "in_progress",
          usage: null,
        }),
      },
      {
        path: "/v1/responses/resp_a?stream=true",
        init: {},
        answer: toStream(
          "response.completed",
          createResponse([createMessage("Yes.")], { id: "resp_a" }),
        ),
      },
      { init: own, answer: createResponse([createMessage("done")], { id: "resp_b" }) },
    );
    const report = JSON.parse(await print(file, { json: true }));
    expect(report).toMatchObject({
      file,
      answer: "Yes.",
      usage: { inputTokens: 40, outputTokens: 10 },
      turns: [
        { exchange: 2, text: "Yes.", isWorkspace: false },
        { exchange: 3, text: "done", isWorkspace: true },
      ],
      exchanges: [{ number: 1, problem: null }, {}, {}],
    });
    expect(await print(file)).toContain("(the workspace runs its own Python)");
  });

  test("shows failures, cut streams and answers that are not responses", async () => {
    const cut = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from("event: response.created\ndata: {}\n\n"));
        controller.error(new Error("terminated"));
      },
    });
    const file = await recordAnswers(
      { answer: new Error("fetch failed") },
      { answer: new Response(cut, { headers: { "content-type": "text/event-stream" } }) },
      { answer: "event: response.completed\ndata: {\n\n" },
      { answer: "event: response.completed\ndata: 1\n\n" },
      { answer: { object: "error" } },
      { answer: new Response(null, { status: 204 }) },
      { path: "/v1/files/f/content", init: {}, answer: new Response("no", { status: 404 }) },
      { path: "/v1/files/g/content", init: {}, answer: new Error("gone") },
      {
        answer: createResponse([{ type: "message", content: [{ type: "refusal", refusal: "" }] }], {
          usage: null,
        }),
      },
    );
    const out = await print(file);
    expect(out).toContain("POST /v1/responses failed: fetch failed  sent 34");
    expect(out).toMatch(/POST \/v1\/responses 200 cut off: terminated/);
    expect(out).toContain("0+0 tokens");
    expect(out).toContain("Answer\n  (none)\n");
    expect(out).not.toContain("Downloaded");
  });

  test("escapes control characters and shortens long texts, names and lists", async () => {
    const form = new FormData();
    for (let index = 0; index < 25; index++)
      form.append("f", new File(["a"], `\u001b]0;x\u0007${index}`));
    const call = { type: "function_call", name: "\u001b[2J", arguments: "a".repeat(5_000) };
    const file = await recordAnswers(
      { path: "/v1/files", init: { method: "POST", body: form } },
      { answer: createResponse([call, createMessage(`\u001b[31m\u202e${"b".repeat(20_000)}`)]) },
      ...Array.from({ length: 210 }, () => ({ path: "/v1/models", init: {} })),
    );
    const out = await print(file);
    expect(out.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
    expect(out).toContain("… and 12 more (use --json to list all)");
    expect(out).toContain("… and 5 more (use --json to list all)");
    expect(out.length).toBeLessThan(40_000);
  });

  test("refuses a file that is not a cassette", async () => {
    const path = join(createCassetteFolder(), "a.jsonl");
    writeFileSync(path, '{"type":"session"}\n');
    await expect(print(path)).rejects.toThrow("Line 1 of");
  });
});

describe("wink replay --test", () => {
  const agent = `export default async (fetch) => {
  const response = await fetch("https://api.openai.com/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-5.2", input: process.env.AGENT_INPUT ?? "Rye?" }),
  });
  const { output } = await response.json();
  return output[0].content[0].text;
};
`;

  function runTest(path: string, env: NodeJS.ProcessEnv = {}) {
    const hooks = new URL("../../../tests/support/cli/resolve-sources.mjs", import.meta.url).href;
    const args = ["--import", hooks, "--test", "--test-reporter=spec", path];
    // A test runner in a test runner would report to the outer one.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    return spawnSync(process.execPath, args, { encoding: "utf8", env: { ...inherited, ...env } });
  }

  test("writes a complete test with --agent, which passes, and fails with the difference when the agent changes", async () => {
    const file = await recordAnswers({
      answer: createResponse([createMessage('Bake "12".\u2028')]),
    });
    const folder = join(file, "..", "my tests#1");
    mkdirSync(folder);
    writeFileSync(join(file, "..", "agent 1.mjs"), agent);
    const out = join(folder, "run.test.mjs");
    const printed = await print(file, { test: true, out, agent: join(file, "..", "agent 1.mjs") });
    expect(printed).toBe(`Wrote ${out}. Run it with node --test ${out}\n`);
    expect(readFileSync(out, "utf8")).toContain('import run from "../agent%201.mjs";');
    const passed = runTest(out);
    expect(passed.stdout + passed.stderr).toContain(
      "✔ gives the answer that is recorded in run.jsonl",
    );
    expect(passed.status).toBe(0);
    const failed = runTest(out, { AGENT_INPUT: "Oat?" });
    expect(failed.status).toBe(1);
    expect(failed.stdout).toMatch(/differs from exchange 1 of \S+ at input:\s+- Rye\?\s+\+ Oat\?/);
  });

  test("writes a test with a placeholder, the recorded model and the input, that does not run code of the cassette", async () => {
    const evil = "\u2028globalThis.stolen = 1; //\u202e";
    const input = [{ role: "user", content: [{ type: "input_text", text: evil }] }];
    const file = await recordAnswers({
      path: `/azure/\`$\{1}\`/responses`,
      init: post({ model: '"+evil+"', input }),
      answer: createResponse([createMessage(`\`$\{process.exit(0)}\`\u2029`)]),
    });
    const printed = await print(file, { test: true });
    expect(printed).toContain("It fails until you import your prompt");
    const out = file.replace(".jsonl", ".test.mjs");
    const text = readFileSync(out, "utf8");
    expect(text).not.toMatch(/[\u2028\u2029\u202e]/);
    expect(text).toContain(
      'model: "\\"+evil+\\"", clientConfig: { fetch, baseURL: "https://recorded.invalid/azure/',
    );
    expect(text).toContain(
      '// return await adapter.evaluate(prompt, { input: "\\u{2028}globalThis.stolen',
    );
    const { status, stdout } = runTest(out);
    expect(status).toBe(1);
    expect(stdout).toContain("Import your prompt into this test");
    await expect(print(file, { test: true })).rejects.toThrow(`--out must be a new file, got`);
  });

  test("works without an answer, an input and a model", async () => {
    const file = await recordAnswers({ path: "/v1/models", init: {} });
    await print(file, { test: true });
    expect(readFileSync(file.replace(".jsonl", ".test.mjs"), "utf8")).toContain("assert.ok(answer");
    const other = await recordAnswers({ init: post({ input: "text" }) });
    await print(other, { test: true });
    expect(readFileSync(other.replace(".jsonl", ".test.mjs"), "utf8")).toContain('input: "text"');
  });

  test("refuses a missing agent and a path that cannot be written", async () => {
    const file = await recordAnswers({});
    await expect(print(file, { test: true, agent: "missing.mts" })).rejects.toThrow(
      "--agent must be an existing file",
    );
    const out = join(file, "below.mjs");
    await expect(print(file, { test: true, out })).rejects.toThrow(
      "--out must be a file that can be written",
    );
    expect(existsSync(out)).toBe(false);
  });
});
