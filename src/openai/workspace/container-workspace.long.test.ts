import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Bend,
  type BentRequest,
  type BentStage,
  bentStage,
  ownRequest,
} from "../../../tests/support/workspace/bent-stage.ts";
import { filesIn, hasBubblewrap, repository } from "../../../tests/support/workspace/stage.ts";
import { Budget } from "../../base/budget.ts";
import { Deadline } from "../../base/deadline.ts";
import { BudgetExceededError, DeadlineExceededError } from "../../base/evaluation-errors.ts";
import { numberAt, recordAt } from "../../base/reading.ts";

const mountsOf = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

const writing = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

/** Spoils what Python printed for us: so often, and then no more. */
function spoiling(
  times: number,
  { isMeant = () => true, instead = "Bad luck." }: Partial<Spoiling> = {},
): Bend {
  let left = times;
  return async (request) => {
    if (!ownRequest(request) || !isMeant(request) || left === 0) return null;
    left -= 1;
    const { status, body } = await request.answer();
    return { status, body: String(body).replaceAll(/wink:[0-9a-f]{64}(?:\\n)?/g, instead) };
  };
}

interface Spoiling {
  isMeant(request: BentRequest): boolean;
  readonly instead: string;
}

/** What the model was told besides its prompt. */
function notes({ seen }: BentStage): readonly string[] {
  const last = seen.filter((request) => request.path === "/responses" && !ownRequest(request));
  const input: readonly { role?: string; content?: string }[] = Object(last.at(-1)?.body["input"]);
  return input.filter(({ role }) => role === "developer").map(({ content = "" }) => content);
}

describe("what a workspace's own requests cost", () => {
  async function counted() {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const totals: number[] = [];
    stage.bend(async (request) => {
      if (request.path !== "/responses") return null;
      const answer = await request.answer();
      const usage = recordAt(JSON.parse(String(answer.body)), "usage");
      totals.push(numberAt(usage ?? {}, "total_tokens") ?? 0);
      return answer;
    });
    return {
      stage,
      totals,
      section: stage.section({ mounts: mountsOf(folder), syncPolicy: "eachTurn" }),
    };
  }

  test.skipIf(!hasBubblewrap)("is counted in the answer's usage", async () => {
    const { stage, totals, section } = await counted();
    const { usage } = await stage.evaluate(section);
    expect(totals).toHaveLength(3);
    expect(totals.every((total) => total > 0)).toBe(true);
    expect(usage.totalTokens).toBe(totals.reduce((sum, total) => sum + total, 0));
  });

  test("is counted in the budget, which it may exceed", async () => {
    const first = await counted();
    const { usage } = await first.stage.evaluate(first.section);
    const enough = new Budget({ maxTotalTokens: usage.totalTokens });
    const second = await counted();
    expect((await second.stage.evaluate(second.section, { budget: enough })).text).toBe("Done.");
    const third = await counted();
    const [bootstrap = 0] = first.totals;
    const budget = new Budget({ maxTotalTokens: bootstrap });
    const failing = third.stage.evaluate(third.section, { budget });
    await expect(failing).rejects.toBeInstanceOf(BudgetExceededError);
    await expect(failing).rejects.toMatchObject({ limit: bootstrap, dimension: "totalTokens" });
  });
});

describe("a workspace that is not waited for any longer", () => {
  const moments = [
    [
      "its container is made",
      ({ method, path }: BentRequest) => `${method} ${path}` === "POST /containers",
    ],
    [
      "its files go up",
      ({ method, path }: BentRequest) => method === "POST" && path.endsWith("/files"),
    ],
    ["its files are unpacked", ownRequest],
  ] as const;

  test.each(moments)(
    "fails with the signal's reason while %s, and leaves nothing",
    async (_, isIt) => {
      const folder = repository({ "a.txt": "one" });
      const stage = await bentStage(writing);
      const over = new AbortController();
      const held = Promise.withResolvers<null>();
      stage.bend((request) => {
        if (!isIt(request)) return null;
        over.abort(new Error("Enough."));
        return held.promise;
      });
      const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
      await expect(stage.evaluate(section, { signal: over.signal })).rejects.toThrow("Enough.");
      expect(stage.requests.filter((request) => request === "POST /responses").length).toBeLessThan(
        2,
      );
      await section.cleanup();
      held.resolve(null);
      expect(existsSync(dirname(section.tempDir))).toBe(false);
      expect([section.containerId, section.syncedDir !== null]).toEqual([null, true]);
      expect(filesIn(section.syncedDir ?? "")).toEqual({ "p/a.txt": "one" });
      const id = /cntr_\w+/.exec(stage.seen.map(({ path }) => path).join(" "))?.[0];
      if (id) await expect(stage.calls.status(id)).rejects.toMatchObject({ status: 404 });
    },
  );

  test("fails so while what code made is fetched; it is fetched at the end", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const over = new AbortController();
    stage.bend(({ path }) => {
      if (path.endsWith("/content")) over.abort(new Error("Enough."));
      return null;
    });
    const section = stage.section({ mounts: mountsOf(folder), syncPolicy: "eachTurn" });
    await expect(stage.evaluate(section, { signal: over.signal })).rejects.toThrow("Enough.");
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test("can be used again afterwards", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const over = new AbortController();
    const isAborted = () => over.signal.aborted;
    stage.bend((request) => {
      if (request.path.endsWith("/files") && !isAborted()) over.abort(new Error("Enough."));
      return null;
    });
    const section = stage.section({ mounts: mountsOf(folder) });
    await expect(stage.evaluate(section, { signal: over.signal })).rejects.toThrow("Enough.");
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(await section.filesystem.readText("p/new.txt")).toBe("new");
  });

  test("fails by a deadline as well", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const held = Promise.withResolvers<null>();
    stage.bend(({ path }) => (path.endsWith("/files") ? held.promise : null));
    const section = stage.section({ mounts: mountsOf(folder) });
    const failing = stage.evaluate(section, { deadline: Deadline.after(1_500) });
    await expect(failing).rejects.toBeInstanceOf(DeadlineExceededError);
    await section.cleanup();
    held.resolve(null);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

const FIND = `import glob, json
at = json.load(open(sorted(glob.glob("/mnt/data/*-paths.json"))[-1]))`;

describe("files that are not unpacked as they were packed", () => {
  const appending = [
    [{ code: `${FIND}\nopen(at["p/a.txt"], "a").write(" two") and None` }],
    [{ code: `${FIND}\nprint(open(at["p/a.txt"]).read())` }],
    [{ say: "Done." }],
  ];

  test("are unpacked again, once", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    stage.bend(spoiling(1));
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test.skipIf(!hasBubblewrap)(
    "go up one by one after the second time, and all are told",
    async () => {
      const folder = repository({ "a.txt": "one", "sub/b.txt": "two" });
      const stage = await bentStage(appending);
      stage.bend(spoiling(2));
      const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toMatchObject([
        {
          containerId: section.containerId,
          reason:
            "the digest of what was unpacked was wrong 2 times; the last output was: Bad luck.",
        },
      ]);
      expect(notes(stage)).toEqual([
        expect.stringMatching(
          /^The files of the workspace are not in folders: .*paths\.json is a JSON/,
        ),
      ]);
      expect(stage.printed()).toEqual(["", "one two\n"]);
      const report = await section.cleanup();
      expect(report).toMatchObject({ added: [], changed: ["p/a.txt"], deleted: [], failed: [] });
      expect(filesIn(section.syncedDir ?? "")).toEqual({
        "p/a.txt": "one two",
        "p/sub/b.txt": "two",
      });
    },
  );

  test("go up one by one as well when nothing was printed at all", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([[{ say: "Done." }]]);
    stage.bend(spoiling(2, { instead: "" }));
    await stage.evaluate(stage.section({ mounts: mountsOf(folder) }));
    expect(stage.bus.of("UnpackingFailed")).toMatchObject([
      { reason: "the digest of what was unpacked was wrong 2 times" },
    ]);
  });

  test.skipIf(!hasBubblewrap)(
    "go up one by one when what was written here is not unpacked, too",
    async () => {
      const folder = repository({ "a.txt": "one" });
      const stage = await bentStage([...writing.slice(1), ...appending]);
      const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      stage.bend(spoiling(2));
      await section.filesystem.writeText("p/later.txt", "later");
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toHaveLength(1);
      expect(stage.printed()).toEqual(["", "one two\n"]);
      await section.cleanup();
      expect(filesIn(section.syncedDir ?? "")).toEqual({
        "p/a.txt": "one two",
        "p/later.txt": "later",
      });
    },
  );

  test.skipIf(!hasBubblewrap)(
    "go up one by one once the model has run other code than it was asked to",
    async () => {
      const folder = repository({ "a.txt": "one" });
      const stage = await bentStage(({ turn }) =>
        turn === 0 ? [{ code: "print('no')" }, { say: "No." }] : (appending[turn - 1] ?? []),
      );
      const section = stage.section({
        mounts: mountsOf(folder),
        ...{ unpack: "prompt", syncOnCleanup: true },
      });
      expect((await stage.evaluate(section)).text).toBe("No.");
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toMatchObject([
        { reason: "the model did not unpack them" },
      ]);
      expect(stage.printed()).toEqual(["no\n", "", "one two\n"]);
      expect(await section.cleanup()).toMatchObject({ changed: ["p/a.txt"], failed: [] });
    },
  );
});

describe("what code made before the files were unpacked", () => {
  test("is brought back although the model never unpacked them", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([
      [{ code: "open('/mnt/data/out.txt', 'w').write('out') and None" }],
      [{ say: "Done." }],
    ]);
    const section = stage.section({
      mounts: mountsOf(folder),
      ...{ unpack: "prompt", syncOnCleanup: true },
    });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["out.txt"], deleted: [], failed: [] });
    expect(filesIn(section.syncedDir ?? "")).toEqual({ "out.txt": "out", "p/a.txt": "one" });
  });
});

describe("a survey that does not agree with itself", () => {
  const isMeant = ({ body }: BentRequest) => JSON.stringify(body).includes("wink-report");
  const removing = [
    [
      {
        code: "import os\nopen('/mnt/data/p/new.txt', 'w').write('new')\nos.remove('/mnt/data/p/a.txt')",
      },
    ],
    [{ say: "Done." }],
  ];

  test("is made again, once", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(removing);
    stage.bend(spoiling(1, { isMeant }));
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    const report = await section.cleanup();
    expect(report).toMatchObject({ added: ["p/new.txt"], deleted: ["p/a.txt"], failed: [] });
  });

  test.skipIf(!hasBubblewrap)(
    "gives way to the provider's list, which is not believed about what is gone",
    async () => {
      const folder = repository({ "a.txt": "one", "b.txt": "two" });
      const stage = await bentStage(removing);
      stage.bend(spoiling(2, { isMeant }));
      const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      const report = await section.cleanup();
      expect(report).toMatchObject({ added: ["p/new.txt"], changed: [], deleted: [] });
      expect(report.failed).toEqual([
        {
          path: ".",
          reason:
            "what code deleted could not be told: what code made was not found as it was told",
        },
      ]);
      expect(filesIn(section.syncedDir ?? "")).toEqual({
        ...{ "p/a.txt": "one", "p/b.txt": "two", "p/new.txt": "new" },
      });
    },
  );
});
