import { existsSync } from "node:fs";
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

describe("a stored run", () => {
  const options = { params: ["kind=rye"], model: "any", session: "one" } as const;

  test("waits for approval without a terminal, continues with it, and keeps its answer", async () => {
    await using _provider = await stubProvider(bakeLoaves(30));
    const store = join(temporaryTree(), "sessions");
    const parked = await runTestAgent("baker", { ...options, store });
    expect(parked).toMatchObject({ code: 1, out: "" });
    const [, key = ""] =
      /^The run waits for the approval of 1 call:\n {2}bake \{"count":30\}\n {4}--approve (\S+)\nAdd --approve KEY or --deny KEY for each call\. Run the same command again to continue\.\n$/.exec(
        parked.err,
      ) ?? [];
    const approvals = { [key]: "approve" } as const;
    const answered = await runTestAgent("baker", { ...options, store, approvals });
    expect(answered).toMatchObject({ code: 0, out: "Baked.\n", err: "" });
    const again = await runTestAgent("baker", { ...options, store, json: true });
    expect(JSON.parse(again.out)).toMatchObject({
      text: "Baked.",
      turns: 2,
      egress: { requests: 0 },
    });
    expect(again.err).toContain("This is the stored answer of the session: nothing was sent.");
  });

  test("shows its earlier turns in the inspector when it continues", async () => {
    await using _provider = await stubProvider(bakeLoaves(30));
    const store = join(temporaryTree(), "sessions");
    const parked = await runTestAgent("baker", { ...options, store, json: true });
    const [{ key }] = JSON.parse(parked.err).error.approvals;
    const summaries: Promise<unknown>[] = [];
    const approvals = { [String(key)]: "approve" } as const;
    await runTestAgent("baker", {
      ...{ ...options, store, approvals, stdin: null, isTTY: true, inspect: true },
      onError: (text, host) => {
        const [, url] = /The inspector stays open at (\S+) .*\n$/.exec(text) ?? [];
        if (url === undefined) return;
        const reading = fetch(`${url}summary?id=one`).then((response) => response.json());
        summaries.push(reading);
        void reading.finally(() => host.kill("SIGINT"));
      },
    });
    expect(await Promise.all(summaries)).toMatchObject([{ state: "done", turns: 2, calls: 1 }]);
  });

  test("refuses other params, another agent, and a session that it did not create", async () => {
    await using _provider = await stubProvider([[{ say: "Baked." }]]);
    const store = join(temporaryTree(), "sessions.sqlite");
    expect(await runTestAgent("baker", { ...options, store })).toMatchObject({ code: 0 });
    expect(existsSync(store)).toBe(true);
    for (const change of [{ params: ["kind=white"] }, { input: "Two." }]) {
      const { code, err } = await runTestAgent("baker", { ...options, store, ...change });
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining(
          '--session must be a session of the same agent with the same params and input, got "one"',
        ),
      });
    }
    const other = await runTestAgent("order", { ...options, params: [], store });
    expect(other.code).toBe(2);
    const wrong = await runTestAgent("baker", { ...options, store, session: "a b" });
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining("--session must be 1-128"),
    });
  });

  test("names its session after a failure, and continues there", async () => {
    let isOpen = false;
    await using _provider = await stubProvider(() =>
      isOpen ? [{ say: "Baked." }] : [{ fail: { status: 400, message: "Closed." } }],
    );
    const store = join(temporaryTree(), "sessions");
    const { session: _session, ...fresh } = options;
    const failed = await runTestAgent("baker", { ...fresh, store });
    const [, session = ""] =
      /Run the same command again with --session (\S+) to continue\.\n$/.exec(failed.err) ?? [];
    expect(session).not.toBe("");
    isOpen = true;
    const done = await runTestAgent("baker", { ...fresh, store, session });
    expect(done).toMatchObject({ code: 0, out: "Baked.\n" });
  });

  test("of a loop continues too", async () => {
    await using _provider = await stubProvider([[{ say: "Short." }]]);
    const store = join(temporaryTree(), "sessions");
    const loop = { params: ["text=a"], store, session: "one" };
    expect(await runTestAgent("summarize", loop)).toMatchObject({ code: 0 });
    const again = await runTestAgent("summarize", loop);
    expect(JSON.parse(again.out)).toMatchObject({ summary: "Short." });
    expect(again.err).toContain("This is the stored answer of the session");
  });
});

test("a workspace that the module creates has its own session, and its sync is reported", async () => {
  const folder = temporaryTree({ "in/list.txt": "flour\n", out: null });
  vi.stubEnv("WINK_TEST_FOLDER", folder);
  await using _provider = await stubProvider([
    [{ code: "open('notes/new.txt', 'w').write('yeast')" }],
    [{ say: "Written." }],
  ]);
  const refused = await runTestAgent("notes", { model: "any", store: join(folder, "sessions") });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      "--store cannot store the run: the agent's workspace has its own session",
    ),
  });
  const { code, out, err } = await runTestAgent("notes", { model: "any" });
  expect({ code, out }).toEqual({ code: 0, out: "Written.\n" });
  expect(err).toMatch(/^Synced files to .*out: 1 added, 0 changed, 0 deleted\.\n$/);
  expect(existsSync(join(folder, "out/notes/new.txt"))).toBe(true);
});
