import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  clearProviders,
  findAgent,
  runTestAgent,
  stubProvider,
} from "../../../tests/support/cli/run-agent-fixture.ts";
import { collectWarnings } from "../../../tests/support/fleet/fleet-fixture.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

beforeEach(clearProviders);
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the printed answer", () => {
  test("has its cost in the summary on a terminal, and in the document", async () => {
    const options = { params: ["script=answer"], isLocal: true };
    const shown = await runTestAgent("bakery", { ...options, stdin: null, isTTY: true });
    expect(shown.out).toBe("Baked.\n");
    expect(shown.err).toMatch(/\n1 turn, 1,000 \+ 200 tokens, \$0\.0125, \d+m?s\n$/);
    const { out } = await runTestAgent("bakery", { ...options, json: true });
    expect(JSON.parse(out)).toMatchObject({ costUsd: 0.0125, turns: 1, text: "Baked." });
  });

  test("names the command that shows a stored session on a terminal", async () => {
    const store = join(temporaryTree(), "sessions");
    const options = { params: ["script=answer"], isLocal: true, store, session: "one" };
    const { err } = await runTestAgent("bakery", { ...options, stdin: null, isTTY: true });
    expect(err).toMatch(/\nShow it with wink inspect one --store …\n$/);
  });

  test("is only in the text of the document if its output has values that JSON does not have", async () => {
    await using _provider = await stubProvider([[{ say: { loaves: 7 } }]]);
    const { code, out } = await runTestAgent("counter", { model: "any", json: true });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ output: null, text: '{"loaves":7}' });
  });

  test("leaves out nested evaluations", async () => {
    const script = [
      [{ call: { name: "ask", args: {} } }],
      [{ say: "Sweet." }],
      [{ say: "It is sweet." }],
    ];
    {
      await using _provider = await stubProvider(script);
      const { out } = await runTestAgent("taster", { model: "any", json: true });
      expect(JSON.parse(out)).toMatchObject({
        ...{ promptName: "agent:taster", output: "It is sweet.", text: "It is sweet." },
        ...{ turns: 2, egress: { requests: 2 } },
      });
    }
    await using _provider = await stubProvider(script);
    const { err } = await runTestAgent("taster", { model: "any", stdin: null, isTTY: true });
    expect(err).toMatch(/ {2}nested turn 1 \d+ \+ \d+ tokens, .*\n.* {2}✓ ask .* Sweet\.\n/s);
  });

  test("has the citations of all turns, and positions only in the last turn", async () => {
    const options = { params: ["script=cite"], isLocal: true, json: true };
    const { out } = await runTestAgent("bakery", options);
    const page = { type: "url", url: "https://a.example", title: "A" };
    expect(JSON.parse(out)).toMatchObject({
      text: "Good.",
      citations: [
        { ...page, span: null },
        { ...page, span: [0, 4] },
      ],
    });
  });

  test("has null for values that an adapter does not report", async () => {
    const options = { isLocal: true, stdin: null, isTTY: true } as const;
    const { code, out, err } = await runTestAgent("cached", options);
    expect({ code, out }).toEqual({ code: 0, out: "Cached.\n" });
    expect(err.split("\u001b[K").at(-1)).toMatch(/^\d+m?s\n$/);
    const document = await runTestAgent("cached", { isLocal: true, json: true });
    expect(JSON.parse(document.out)).toMatchObject({
      ...{ promptName: null, model: null, text: null, output: "Cached.\n", usage: null },
      ...{ costUsd: null, finishReason: null, turns: null, egress: null },
    });
  });

  test.each([
    [3, '{"loaves":3}\n'],
    [0, "null\n"],
  ])("is printed although its schema creates a value that is no JSON: %i", async (loaves, out) => {
    await using _provider = await stubProvider([[{ say: { loaves } }]]);
    expect(await runTestAgent("counter", { model: "any" })).toMatchObject({
      code: 0,
      out,
      err: "",
    });
  });
});

describe("a section that fails to clean up", () => {
  beforeEach(() => {
    vi.stubEnv("WINK_TEST_LOCKED", "1");
  });

  test("fails the run after its answer is printed", async () => {
    await using _provider = await stubProvider([[{ say: { loaves: 0 } }]]);
    const { code, out, err } = await runTestAgent("counter", { model: "any" });
    expect({ code, out }).toEqual({ code: 1, out: "null\n" });
    expect(err).toMatch(/^error: .*The till is \\u\{1b\}\[31mlocked\./);
  });

  test("is a warning if the evaluation has failed, whose error is reported", async () => {
    const warnings = collectWarnings();
    await using _provider = await stubProvider([[{ fail: { status: 400, message: "Closed." } }]]);
    const { code, out, err } = await runTestAgent("counter", { model: "any" });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^error: .* failed with status 400: Closed /);
    expect(err).not.toContain("locked");
    await expect
      .poll(() => warnings)
      .toContainEqual(expect.stringContaining("A section failed to clean up: "));
  });
});

describe("a run without an answer", () => {
  test("prints its partial cost with --json", async () => {
    const options = { params: ["script=fail"], isLocal: true, json: true };
    const { code, out, err } = await runTestAgent("bakery", options);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    const lines = err.trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      error: { name: "PromptEvaluationError", partial: { turns: 1, costUsd: 1 } },
    });
  });

  test("prints keys that a shell takes as one argument for calls that wait", async () => {
    const store = join(temporaryTree(), "sessions");
    const options = { params: ["script=park"], isLocal: true, store };
    const { code, err } = await runTestAgent("bakery", options);
    expect(code).toBe(1);
    expect(err).toMatch(/\n {2}bake null\n {4}--approve '[^\n]*it'\\''s 1'\n/);
  });

  test("of a loop ends with the exit code of a signal", async () => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using _provider = await stubProvider(async () => {
      started.resolve();
      await ended.promise;
      return [{ say: "late" }];
    });
    const hosts: { kill(signal: NodeJS.Signals): void }[] = [];
    const running = runTestAgent("summarize", {
      params: ["text=a"],
      isTTY: true,
      onError: (_text, host) => hosts.push(host),
    });
    await started.promise;
    hosts[0]?.kill("SIGTERM");
    const { err, ...run } = await running;
    ended.resolve();
    expect(run).toMatchObject({ code: 143, out: "", listeners: [] });
    expect(err).not.toContain("error:");
  });

  test("lists files that could not be copied to the host", async () => {
    const folder = temporaryTree({ "in/list.txt": "flour\n", "out/notes": "a file" });
    vi.stubEnv("WINK_TEST_FOLDER", folder);
    const file = join(folder, "agent.ts"); // a separate module, because it creates a session
    copyFileSync(findAgent("notes"), file);
    await using _provider = await stubProvider([
      [{ code: "open('notes/new.txt', 'w').write('yeast')" }],
      [{ say: "Written." }],
    ]);
    const { out, err } = await runTestAgent("", { file, model: "any" });
    expect(out).toBe("Written.\n");
    expect(err).toMatch(
      /^Synced files to .*out: \d added, 0 changed, 0 deleted\.\n.*\n {2}✗ notes\/new\.txt: A file /s,
    );
  });
});

describe("the local provider of a run", () => {
  test("is not started if the script of its model is missing", async () => {
    const provider = { sandbox: "auto", model: { script: "/nowhere.json" } } as const;
    const { code, err } = await runTestAgent("cached", { isLocal: true, provider });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^error: --model must be a readable file/),
    });
  });

  test("is not started if its folder for data is a file", async () => {
    const dataDir = join(temporaryTree({ data: "mine" }), "data");
    const provider = { sandbox: "auto", model: {}, dataDir } as const;
    const { code, err } = await runTestAgent("cached", { isLocal: true, provider });
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^error: --data-dir must be a folder that can be created/),
    });
  });
});

test("the inspector is not opened in a browser with --no-open", async () => {
  const { err, pages } = await runTestAgent("cached", {
    ...{ isLocal: true, stdin: null, isTTY: true, inspect: true, open: false },
    onError: (text, host) => {
      if (text.endsWith("until you press Ctrl-C.\n")) host.kill("SIGINT");
    },
  });
  expect(err).toMatch(/Inspector: http:\/\/127\.0\.0\.1:\d+\//);
  expect(pages).toEqual([]);
});

test("the inspector closes with a run that no person watches", async () => {
  const options = { isLocal: true, inspect: true, json: true };
  const { code, err, pages } = await runTestAgent("cached", options);
  const { inspector } = JSON.parse(err.trim().split("\n").at(-1) ?? "");
  expect({ code, pages }).toEqual({ code: 0, pages: [] });
  await expect(fetch(inspector)).rejects.toThrow();
});
