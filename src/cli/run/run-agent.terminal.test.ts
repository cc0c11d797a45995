import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  bakeLoaves,
  clearProviders,
  runTestAgent,
  stubProvider,
} from "../../../tests/support/cli/run-agent-fixture.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

beforeEach(clearProviders);
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("on a terminal", () => {
  test("shows turns and calls, escapes the answer, and prints a summary", async () => {
    await using _provider = await stubProvider([
      [{ call: { name: "bake", args: { count: 3 } } }],
      [{ say: "Hot \u001b[31mbread\n\tfor all" }],
    ]);
    const options = { params: ["kind=rye"], model: "any", stdin: null, isTTY: true };
    const { out, err } = await runTestAgent("baker", options);
    expect(out).toBe("Hot \\u{1b}[31mbread\n\tfor all\n");
    expect(err).toMatch(/turn 1 calls bake [\d,]+ \+ \d+ tokens, /);
    expect(err).toMatch(/✓ bake \{"count":3\} here \d+ms baked 3\n/);
    expect(err).toMatch(/\n2 turns, [\d,]+ \+ \d+ tokens, \d+m?s\n$/);
  });

  test.each([
    ["y\n", "✓ bake"],
    ["YES\n", "✓ bake"],
    ["\n", "✗ bake"],
    ["no\n", "✗ bake"],
    [null, "✗ bake"],
  ])("asks before a call that needs approval: %j", async (typed, expected) => {
    await using _provider = await stubProvider(bakeLoaves(30));
    let isAsked = false;
    const { err } = await runTestAgent("baker", {
      params: ["kind=rye"],
      model: "any",
      stdin: null,
      isTTY: true,
      onError: (text, host) => {
        if (isAsked || !text.includes('Run bake {"count":30}? (y/N)\n')) return;
        isAsked = true;
        if (typed === null) host.end();
        else host.type(typed);
      },
    });
    expect(err).toContain(expected);
  });

  test("serves the inspector until Ctrl-C, and returns the exit code of the run", async () => {
    await using _provider = await stubProvider([[{ say: "Baked." }]]);
    const statuses: Promise<number>[] = [];
    const { code, out, err, pages } = await runTestAgent("baker", {
      params: ["kind=rye"],
      model: "any",
      stdin: null,
      isTTY: true,
      inspect: true,
      onError: (text, host) => {
        const [, url] =
          /The inspector stays open at (\S+) until you press Ctrl-C\.\n$/.exec(text) ?? [];
        if (url === undefined) return;
        const opened = fetch(url).then(({ status }) => status);
        statuses.push(opened);
        void opened.finally(() => host.kill("SIGINT"));
      },
    });
    expect({ code, out, statuses: await Promise.all(statuses) }).toEqual({
      code: 0,
      out: "Baked.\n",
      statuses: [200],
    });
    const [, url] = /Inspector: (\S+)\n/.exec(err) ?? [];
    expect(pages).toEqual([url]);
    await expect(fetch(url ?? "")).rejects.toThrow();
  });
});

describe("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGPIPE", 0],
  ] as const)("%s stops the run with the exit code %i", async (signal, code) => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using _provider = await stubProvider(async () => {
      started.resolve();
      await ended.promise;
      return [{ say: "late" }];
    });
    const store = join(temporaryTree(), "sessions");
    const hosts: { kill(signal: NodeJS.Signals): void }[] = [];
    const running = runTestAgent("baker", {
      params: ["kind=rye"],
      model: "any",
      store,
      isTTY: true,
      onError: (_text, host) => hosts.push(host),
    });
    await started.promise;
    hosts[0]?.kill(signal);
    const { err, ...run } = await running;
    ended.resolve();
    expect(run).toMatchObject({ code, out: "", listeners: [] });
    expect(err.includes("Stopped. Run the same command again with --session")).toBe(code !== 0);
  });
});
