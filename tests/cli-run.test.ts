import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, type ModelScript, scriptedModel } from "weakincentives/local";
import { startWinkRun } from "./support/cli/start-wink-run.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const BAKER = "tests/support/cli/agents/baker.ts";

/** Starts a provider for one test. Returns the variables that name it. */
async function startProvider(script: ModelScript) {
  const provider = new LocalProvider({ model: scriptedModel(script), apiKey: "test-key" });
  onTestFinished(() => provider.close());
  const { url } = await provider.listen();
  return { OPENAI_BASE_URL: url, OPENAI_API_KEY: "test-key" };
}

/** Runs `wink run` to its end, with temporary folders that the test can inspect. */
async function winkRun(args: readonly string[], start: Parameters<typeof startWinkRun>[1] = {}) {
  const temporary = temporaryTree();
  const run = startWinkRun(args, { ...start, env: { ...start.env, TMPDIR: temporary } });
  const { code } = await run.ended;
  return { code, ...run.output, temporary: readdirSync(temporary) };
}

describe("wink run with an agent", () => {
  test("reads params from standard input and answers on standard output", async () => {
    const env = await startProvider(({ items }) => [{ say: JSON.stringify(items) }]);
    const stdin = '{"kind": "rye"}\n';
    const run = await winkRun([BAKER, "--model", "any", "--input", "Two."], { env, stdin });
    expect(run).toMatchObject({ code: 0, err: "", temporary: [] });
    expect(run.out).toContain("Bake rye bread.");
    expect(run.out).toContain("Two.");
  });

  test("does not wait for an open pipe that sends nothing", async () => {
    const { code, out, err } = await winkRun([BAKER, "--param", "kind=rye", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ promptName: "shop:baker", turns: 1 });
    expect(
      err
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).note),
    ).toEqual([
      "Standard input is open and has sent nothing, so it is not read. Use --params - to wait for it.",
      expect.stringMatching(/^An echo answers instead of a model\./),
    ]);
  });

  test("plays a script on its own local provider, and deletes its folders", async () => {
    const turns = join(temporaryTree({ "turns.json": '[[{ "say": "Played." }]]' }), "turns.json");
    const args = ["--model", turns, "--requests", BAKER, "--param", "kind=rye"];
    expect(await winkRun(args, { stdin: "" })).toEqual({
      code: 0,
      out: "Played.\n",
      err: expect.stringMatching(/^POST \/v1\/responses 200 /),
      temporary: [],
    });
  });

  test.each([
    [
      "throw new Error('no\u001b[31m');\nexport default 1;",
      1,
      /^error: FILE must be a module that can be loaded, got ".*agent\.mjs"\. No\\u\{1b\}\[31m\.\n$/,
    ],
    [
      "export default { fetch() {} };",
      1,
      /^error: The default export of .*agent\.mjs is an object, and not a PromptTemplate, .* wink run node .*agent\.mjs\n$/,
    ],
    ["export default 1 +", 1, /^error: FILE must be a module that can be loaded/],
  ])("reports a module that exports no agent: %j", async (text, code, problem) => {
    const file = join(temporaryTree({ "agent.mjs": text }), "agent.mjs");
    const run = await winkRun([file], { stdin: "" });
    expect(run).toMatchObject({
      code,
      out: "",
      err: expect.stringMatching(problem),
      temporary: [],
    });
  });

  test("runs a module with a default export as a program if it is asked to", async () => {
    const text = "console.log(process.argv.slice(2).join(' '));\nexport default {};";
    const file = join(temporaryTree({ "server.mjs": text }), "server.mjs");
    const run = await winkRun(["node", file, "--param", "a=1"], { stdin: "" });
    expect(run).toMatchObject({ code: 0, out: "--param a=1\n", err: "" });
  });

  test("exits after the answer, although the module leaves a timer open", async () => {
    const text = `import { definePrompt } from "weakincentives";
      setInterval(() => {}, 1000);
      export default definePrompt({ name: "poet", instructions: "Write." });`;
    const file = join(temporaryTree({ "agent.mjs": text }), "agent.mjs");
    expect(await winkRun([file, "--input", "Hi."], { stdin: "" })).toMatchObject({
      code: 0,
      out: "You said: Hi.\n",
    });
  });

  test("does not fail if the reader of its output has gone", async () => {
    const run = startWinkRun([BAKER, "--param", "kind=rye"], { stdin: "" });
    run.child.stdout?.destroy();
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });
});

describe("wink run with an agent that is killed", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("by %s cleans up and exits with %i", async (signal, code) => {
    const turns = `export default async () => {
      console.error("ready");
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    };`;
    const model = join(temporaryTree({ "model.mjs": turns }), "model.mjs");
    const temporary = temporaryTree();
    const args = [BAKER, "--param", "kind=rye", "--model", model];
    const run = startWinkRun(args, { stdin: "", env: { TMPDIR: temporary } });
    await expect.poll(() => run.output.err, { timeout: 30_000 }).toContain("ready");
    expect(readdirSync(temporary)).not.toEqual([]);
    run.child.kill(signal);
    expect(await run.ended).toEqual({ code, signal: null });
    expect({ ...run.output, temporary: readdirSync(temporary) }).toEqual({
      out: "",
      err: "ready\n",
      temporary: [],
    });
  });

  test("continues in the next process, and sends no answered turn again", async () => {
    const [hangs, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let requests = 0;
    const env = await startProvider(async () => {
      requests += 1;
      if (requests === 1) return [{ call: { name: "bake", args: { count: 3 } } }];
      if (requests === 2) {
        hangs.resolve();
        await gate.promise;
      }
      return [{ say: "Baked." }];
    });
    const store = join(temporaryTree(), "sessions");
    const args = [BAKER, "--param", "kind=rye", "--model", "any", "--store", store];
    const again = [...args, "--session", "night", "--json"];
    const killed = startWinkRun(again, { env, stdin: "" });
    await hangs.promise;
    killed.child.kill("SIGKILL");
    expect(await killed.ended).toEqual({ code: null, signal: "SIGKILL" });
    gate.resolve();
    const { code, out } = await winkRun(again, { env, stdin: "" });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ sessionId: "night", text: "Baked.", turns: 2 });
    expect(requests).toBe(3);
    const last = await winkRun(again, { env, stdin: "" });
    expect(JSON.parse(last.out)).toMatchObject({ text: "Baked.", egress: { requests: 0 } });
    expect(requests).toBe(3);
  });
});
