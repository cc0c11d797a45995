import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  bakeLoaves,
  clearProviders,
  findAgent,
  runTestAgent,
  stubProvider,
} from "../../../tests/support/cli/run-agent-fixture.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

beforeEach(clearProviders);
afterEach(() => {
  vi.unstubAllEnvs();
});

const say = (text: string) => [[{ say: text }]];

describe("runAgent()", () => {
  test("prints the answer of the model at the address of the environment", async () => {
    await using _provider = await stubProvider(({ text }) => [{ say: `I read ${text}` }]);
    const params = ["kind=rye"];
    const run = await runTestAgent("baker", { params, input: "Two.", model: "any" });
    expect(run).toMatchObject({ code: 0, out: "I read Two.\n", err: "", listeners: [] });
  });

  test("prints a structured answer as JSON, and a loop's result", async () => {
    {
      await using _provider = await stubProvider(say('{"loaves": 3}'));
      const { out } = await runTestAgent("order", { model: "any" });
      expect(out).toBe('{\n  "loaves": 3\n}\n');
    }
    await using _provider = await stubProvider(({ items }) => [{ say: JSON.stringify(items) }]);
    const run = await runTestAgent("summarize", { stdin: '{"text": "A long text.", "words": 3}' });
    expect(JSON.parse(run.out)).toEqual({
      summary: expect.stringContaining("Summarize the text in 3 words."),
      turns: true,
    });
  });

  test("takes params from flags and standard input, and flags win", async () => {
    await using _provider = await stubProvider(({ items }) => [{ say: JSON.stringify(items) }]);
    const stdin = '{"kind": "rye", "oven": 180}';
    const { out } = await runTestAgent("baker", { model: "any", stdin, params: ["kind=white"] });
    expect(out).toContain("Bake white bread.");
  });

  test("runs a prompt with the params that its module has bound, unless there are others", async () => {
    await using _provider = await stubProvider(({ items }) => [{ say: JSON.stringify(items) }]);
    const text = `import baker from ${JSON.stringify(findAgent("baker"))};
      export default baker.bind({ kind: "bound" });`;
    const file = join(temporaryTree({ "bound.ts": text }), "bound.ts");
    const bound = await runTestAgent("", { file, model: "any" });
    expect(bound).toMatchObject({ code: 0, out: expect.stringContaining("Bake bound bread.") });
    const other = await runTestAgent("", { file, model: "any", params: ["kind=rye"] });
    expect(other).toMatchObject({ code: 0, out: expect.stringContaining("Bake rye bread.") });
  });

  test("takes params from a file, and does not read standard input", async () => {
    await using _provider = await stubProvider(({ items }) => [{ say: JSON.stringify(items) }]);
    const paramsFile = join(temporaryTree({ "params.json": '{"kind": "spelt"}' }), "params.json");
    const { out } = await runTestAgent("baker", { model: "any", stdin: "not JSON", paramsFile });
    expect(out).toContain("Bake spelt bread.");
    const missing = await runTestAgent("baker", { model: "any", paramsFile: "nowhere.json" });
    expect(missing).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: --params must be a readable file \(ENOENT/),
    });
  });

  test("starts a local provider without a provider in the environment, and says that an echo answers", async () => {
    const { code, out, err } = await runTestAgent("summarize", { params: ["text=Hello"] });
    expect({ code, out: JSON.parse(out), err }).toEqual({
      code: 0,
      out: { summary: "You said: Hello", turns: true },
      err: expect.stringMatching(/^An echo answers instead of a model\. Set OPENAI_API_KEY/),
    });
    expect(process.env["OPENAI_BASE_URL"]).toBeUndefined();
  });

  test("plays a script although the environment has a provider, and prints requests", async () => {
    vi.stubEnv("OPENAI_API_KEY", "real");
    const script = join(
      temporaryTree({ "turns.json": JSON.stringify(say("Played.")) }),
      "turns.json",
    );
    const { out, err } = await runTestAgent("baker", {
      params: ["kind=rye"],
      provider: { sandbox: "auto", model: { script } },
      isLocal: true,
      requests: true,
    });
    expect({ out, err }).toEqual({
      out: "Played.\n",
      err: expect.stringMatching(/^POST \/v1\/responses 200 \d+ms stream [\d+]+ tokens\n$/),
    });
    expect(process.env["OPENAI_API_KEY"]).toBe("real");
  });

  test("keeps the agent's access to Anthropic's API unless a flag asks for the local provider", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "real");
    const seen: unknown[] = [];
    vi.stubEnv("WINK_TEST_SEEN", "1");
    for (const isLocal of [false, true]) {
      const onError = () => seen.push(process.env["ANTHROPIC_API_KEY"] === "real");
      await runTestAgent("baker", { params: ["kind=rye"], isLocal, onError });
    }
    expect(seen).toEqual([true, false]);
  });

  test.each([
    ["baker", {}, '--param must include "kind", got []. Add --param kind=…, or pass JSON on'],
    ["baker", { params: ["knd=a"] }, '--param must name params of the agent, got "knd". Did you'],
    ["baker", { params: ["kind=a", "oven=x"] }, '--param oven must be an integer, got "x". Use'],
    ["baker", { stdin: "[]" }, "standard input must be a JSON object, got []. Pass one object"],
    ["baker", { stdin: "{" }, 'standard input must be JSON, got "{".'],
    ["baker", { stdin: '{"kind": 1}' }, "--param must match its schema (kind: Invalid input"],
    [
      "summarize",
      { stdin: '{"text": 1}' },
      '--param must match the schema of the loop "summarize" (text',
    ],
    [
      "summarize",
      { params: ["text=a"], input: "b" },
      '--input must be omitted for the loop "summarize"',
    ],
    [
      "baker",
      { model: "gpt-5.2" },
      "--model must be a script unless OPENAI_API_KEY or OPENAI_BASE_URL is set",
    ],
    [
      "baker",
      { model: "gpt-5.2", isLocal: true },
      "--model must be a script, because another flag starts",
    ],
  ] as const)("refuses a wrong command line for %s: %j", async (name, options, problem) => {
    const { code, out, err } = await runTestAgent(name, options);
    expect({ code, out, err }).toEqual({
      code: 2,
      out: "",
      err: expect.stringContaining(`error: ${problem}`),
    });
  });

  test.each([
    [
      "baker",
      { params: ["kind=a"] },
      "--model must name a model, because OPENAI_API_KEY or OPENAI_BASE_URL is",
    ],
    [
      "summarize",
      { params: ["text=a"], model: "gpt-5.2" },
      '--model must be omitted for the loop "summarize"',
    ],
  ] as const)("refuses the model of %s: %j", async (name, options, problem) => {
    vi.stubEnv("OPENAI_API_KEY", "key");
    const { code, err } = await runTestAgent(name, options);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(problem) });
  });

  test("--json prints one document, and lines of JSON on standard error", async () => {
    await using _provider = await stubProvider(bakeLoaves(30));
    const options = { params: ["kind=rye"], model: "any", json: true } as const;
    const { code, out, err } = await runTestAgent("baker", options);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      promptName: "shop:baker",
      sessionId: expect.any(String),
      model: "any",
      text: "Baked.",
      output: "Baked.",
      usage: expect.objectContaining({ totalTokens: expect.any(Number) }),
      costUsd: null,
      finishReason: "stop",
      turns: 2,
      hostedCalls: [],
      citations: [],
      egress: { verdict: "stored at the provider", requests: 2, bytes: expect.any(Number) },
      synced: [],
      durationMs: expect.any(Number),
    });
    expect(JSON.parse(err)).toEqual({
      note: 'Denied bake {"count":30}: it needs approval, and there is no terminal to ask on. Use --store.',
    });
    const loop = await runTestAgent("summarize", { params: ["text=a"], isLocal: true, json: true });
    expect(JSON.parse(loop.out)).toMatchObject({
      promptName: "agent:summarize",
      output: { summary: "You said: a", turns: true },
      text: "You said: a",
      finishReason: "stop",
      egress: { requests: 1 },
    });
  });

  test("--json prints an error as JSON, with the results so far", async () => {
    const turns = [
      ...bakeLoaves(1).slice(0, 1),
      [{ fail: { status: 400, message: "No \u001b[31mflour." } }],
    ];
    await using _provider = await stubProvider(turns);
    const options = { params: ["kind=rye"], model: "any", json: true } as const;
    const failed = await runTestAgent("baker", options);
    expect({ ...failed, err: JSON.parse(failed.err) }).toMatchObject({
      code: 1,
      out: "",
      err: {
        error: {
          name: "PromptEvaluationError",
          message: expect.stringContaining("flour"),
          phase: "request",
          partial: { turns: 1 },
        },
      },
    });
    const wrong = await runTestAgent("baker", { json: true, model: "any" });
    expect(wrong.code).toBe(2);
    expect(JSON.parse(wrong.err)).toMatchObject({ error: { name: "InvalidOptionError" } });
  });

  test("reports an error of the agent's own code, and its stack with --debug", async () => {
    const options = { params: ["text="], isLocal: true };
    const { code, err } = await runTestAgent("summarize", options);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: The loop "summarize" failed: The text is empty\n(run the command again with --debug to see where)\n',
    });
    const debug = await runTestAgent("summarize", { ...options, debug: true });
    expect(debug.err).toMatch(/TypeError: The text is empty\n\s+at .*summarize\.ts/);
  });
});
