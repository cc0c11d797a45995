import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { parseResponse } from "../../../tests/support/wire-stream.ts";
import {
  createInterceptionFixture,
  type InterceptedRequest,
  type InterceptionFixture,
  type Interceptor,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../../../tests/support/workspace/workspace-fixture.ts";
import { Budget } from "../../base/budget.ts";
import { Deadline } from "../../base/deadline.ts";
import { BudgetExceededError, DeadlineExceededError } from "../../base/evaluation-errors.ts";
import { readNumber, readRecord } from "../../base/json.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

const writeScript = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

/** Corrupts the output of the workspace's own Python requests, `times` times. */
function corruptOutput(
  times: number,
  { matches = () => true, instead = "Bad luck." }: Partial<CorruptOptions> = {},
): Interceptor {
  let left = times;
  return async (request) => {
    if (!isWorkspaceRequest(request) || !matches(request) || left === 0) return null;
    left -= 1;
    const { status, body } = await request.forward();
    return { status, body: String(body).replaceAll(/wink:[0-9a-f]{64}(?:\\n)?/g, instead) };
  };
}

interface CorruptOptions {
  matches(request: InterceptedRequest): boolean;
  readonly instead: string;
}

/** Returns the developer messages of the model's last request. */
function readNotes({ seenRequests }: InterceptionFixture): readonly string[] {
  const last = seenRequests.filter(
    (request) => request.path === "/responses" && !isWorkspaceRequest(request),
  );
  const input: readonly { role?: string; content?: string }[] = Object(last.at(-1)?.body["input"]);
  return input.filter(({ role }) => role === "developer").map(({ content = "" }) => content);
}

describe("the token usage of a workspace's own requests", () => {
  async function createCountedStage() {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const totals: number[] = [];
    stage.intercept(async (request) => {
      if (request.path !== "/responses") return null;
      const answer = await request.forward();
      const usage = readRecord(parseResponse(String(answer.body)), "usage");
      totals.push(readNumber(usage ?? {}, "total_tokens") ?? 0);
      return answer;
    });
    return {
      stage,
      totals,
      section: stage.createSection({ mounts: createMounts(folder), syncPolicy: "eachTurn" }),
    };
  }

  test.skipIf(!hasBubblewrap)("is included in the response's usage", async () => {
    const { stage, totals, section } = await createCountedStage();
    const { usage } = await stage.evaluate(section);
    expect(totals).toHaveLength(3);
    expect(totals.every((total) => total > 0)).toBe(true);
    expect(usage.totalTokens).toBe(totals.reduce((sum, total) => sum + total, 0));
  });

  test("counts against the budget, and can exceed it", async () => {
    const first = await createCountedStage();
    const { usage } = await first.stage.evaluate(first.section);
    const enough = new Budget({ maxTotalTokens: usage.totalTokens });
    const second = await createCountedStage();
    expect((await second.stage.evaluate(second.section, { budget: enough })).text).toBe("Done.");
    const third = await createCountedStage();
    const [bootstrap = 0] = first.totals;
    const budget = new Budget({ maxTotalTokens: bootstrap });
    const failing = third.stage.evaluate(third.section, { budget });
    await expect(failing).rejects.toBeInstanceOf(BudgetExceededError);
    await expect(failing).rejects.toMatchObject({ limit: bootstrap, dimension: "totalTokens" });
  });
});

describe("an aborted evaluation with a workspace", () => {
  const moments = [
    [
      "its container is created",
      ({ method, path }: InterceptedRequest) => `${method} ${path}` === "POST /containers",
    ],
    [
      "its files are uploaded",
      ({ method, path }: InterceptedRequest) => method === "POST" && path.endsWith("/files"),
    ],
    ["its files are unpacked", isWorkspaceRequest],
  ] as const;

  test.each(moments)(
    "fails with the signal's reason while %s and cleans up",
    async (_, isMoment) => {
      const folder = createRepository({ "a.txt": "one" });
      const stage = await createInterceptionFixture(writeScript);
      const controller = new AbortController();
      const held = Promise.withResolvers<null>();
      stage.intercept((request) => {
        if (!isMoment(request)) return null;
        controller.abort(new Error("Enough."));
        return held.promise;
      });
      const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
      await expect(stage.evaluate(section, { signal: controller.signal })).rejects.toThrow(
        "Enough.",
      );
      expect(stage.requests.filter((request) => request === "POST /responses").length).toBeLessThan(
        2,
      );
      await section.cleanup();
      held.resolve(null);
      expect(existsSync(dirname(section.tempDir))).toBe(false);
      expect([section.containerId, section.syncedDir !== null]).toEqual([null, true]);
      expect(readFiles(section.syncedDir ?? "")).toEqual({ "p/a.txt": "one" });
      const id = /cntr_\w+/.exec(stage.seenRequests.map(({ path }) => path).join(" "))?.[0];
      if (id) await expect(stage.calls.getStatus(id)).rejects.toMatchObject({ status: 404 });
    },
  );

  test("fails while changes are downloaded, and cleanup downloads them", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const controller = new AbortController();
    stage.intercept(({ path }) => {
      if (path.endsWith("/content")) controller.abort(new Error("Enough."));
      return null;
    });
    const section = stage.createSection({ mounts: createMounts(folder), syncPolicy: "eachTurn" });
    await expect(stage.evaluate(section, { signal: controller.signal })).rejects.toThrow("Enough.");
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test("leaves the workspace usable", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const controller = new AbortController();
    const isAborted = () => controller.signal.aborted;
    stage.intercept((request) => {
      if (request.path.endsWith("/files") && !isAborted()) controller.abort(new Error("Enough."));
      return null;
    });
    const section = stage.createSection({ mounts: createMounts(folder) });
    await expect(stage.evaluate(section, { signal: controller.signal })).rejects.toThrow("Enough.");
    expect((await stage.evaluate(section)).text).toBe("Done.");
    expect(await section.filesystem.readText("p/new.txt")).toBe("new");
  });

  test("also fails with a deadline", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const held = Promise.withResolvers<null>();
    stage.intercept(({ path }) => (path.endsWith("/files") ? held.promise : null));
    const section = stage.createSection({ mounts: createMounts(folder) });
    const failing = stage.evaluate(section, { deadline: Deadline.after(1_500) });
    await expect(failing).rejects.toBeInstanceOf(DeadlineExceededError);
    await section.cleanup();
    held.resolve(null);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

const FIND = `import glob, json
at = json.load(open(sorted(glob.glob("/mnt/data/*-paths.json"))[-1]))`;

describe("files whose unpacking fails", () => {
  const appendScript = [
    [{ code: `${FIND}\nopen(at["p/a.txt"], "a").write(" two") and None` }],
    [{ code: `${FIND}\nprint(open(at["p/a.txt"]).read())` }],
    [{ say: "Done." }],
  ];

  test("are unpacked once more", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    stage.intercept(corruptOutput(1));
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
    expect(await section.cleanup()).toMatchObject({ added: ["p/new.txt"], failed: [] });
  });

  test.skipIf(!hasBubblewrap)(
    "are uploaded one by one after the second failure, with an event and a note to the model",
    async () => {
      const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two" });
      const stage = await createInterceptionFixture(appendScript);
      stage.intercept(corruptOutput(2));
      const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toMatchObject([
        {
          containerId: section.containerId,
          reason:
            "the digest of the unpacked files was wrong 2 times; the last output was: Bad luck.",
        },
      ]);
      expect(readNotes(stage)).toEqual([
        expect.stringMatching(
          /^The files of the workspace are not in folders: .*paths\.json is a JSON/,
        ),
      ]);
      expect(stage.readOutputs()).toEqual(["", "one two\n"]);
      const report = await section.cleanup();
      expect(report).toMatchObject({ added: [], changed: ["p/a.txt"], deleted: [], failed: [] });
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        "p/a.txt": "one two",
        "p/sub/b.txt": "two",
      });
    },
  );

  test("are uploaded one by one if the code printed nothing", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([[{ say: "Done." }]]);
    stage.intercept(corruptOutput(2, { instead: "" }));
    await stage.evaluate(stage.createSection({ mounts: createMounts(folder) }));
    expect(stage.bus.of("UnpackingFailed")).toMatchObject([
      { reason: "the digest of the unpacked files was wrong 2 times" },
    ]);
  });

  test.skipIf(!hasBubblewrap)(
    "are uploaded one by one if unpacking local writes fails",
    async () => {
      const folder = createRepository({ "a.txt": "one" });
      const stage = await createInterceptionFixture([...writeScript.slice(1), ...appendScript]);
      const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      stage.intercept(corruptOutput(2));
      await section.filesystem.writeText("p/later.txt", "later");
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toHaveLength(1);
      expect(stage.readOutputs()).toEqual(["", "one two\n"]);
      await section.cleanup();
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        "p/a.txt": "one two",
        "p/later.txt": "later",
      });
    },
  );

  test.skipIf(!hasBubblewrap)(
    "are uploaded one by one if the model does not run the unpack code",
    async () => {
      const folder = createRepository({ "a.txt": "one" });
      const stage = await createInterceptionFixture(({ turn }) =>
        turn === 0 ? [{ code: "print('no')" }, { say: "No." }] : (appendScript[turn - 1] ?? []),
      );
      const section = stage.createSection({
        mounts: createMounts(folder),
        ...{ unpack: "prompt", syncOnCleanup: true },
      });
      expect((await stage.evaluate(section)).text).toBe("No.");
      await stage.evaluate(section);
      expect(stage.bus.of("UnpackingFailed")).toMatchObject([
        { reason: "the model did not unpack the files" },
      ]);
      expect(stage.readOutputs()).toEqual(["no\n", "", "one two\n"]);
      expect(await section.cleanup()).toMatchObject({ changed: ["p/a.txt"], failed: [] });
    },
  );
});

describe("files that code created before unpacking", () => {
  test("are downloaded even if the model never unpacked the archive", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([
      [{ code: "open('/mnt/data/out.txt', 'w').write('out') and None" }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({
      mounts: createMounts(folder),
      ...{ unpack: "prompt", syncOnCleanup: true },
    });
    await stage.evaluate(section);
    expect(await section.cleanup()).toMatchObject({ added: ["out.txt"], deleted: [], failed: [] });
    expect(readFiles(section.syncedDir ?? "")).toEqual({ "out.txt": "out", "p/a.txt": "one" });
  });
});

describe("downloaded changes that do not match their digest", () => {
  const matches = ({ body }: InterceptedRequest) => JSON.stringify(body).includes("wink-report");
  const removeScript = [
    [
      {
        code: "import os\nopen('/mnt/data/p/new.txt', 'w').write('new')\nos.remove('/mnt/data/p/a.txt')",
      },
    ],
    [{ say: "Done." }],
  ];

  test("are requested once more", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(removeScript);
    stage.intercept(corruptOutput(1, { matches }));
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    const report = await section.cleanup();
    expect(report).toMatchObject({ added: ["p/new.txt"], deleted: ["p/a.txt"], failed: [] });
  });

  test.skipIf(!hasBubblewrap)(
    "are replaced by the provider's file list, which is not used for deletions",
    async () => {
      const folder = createRepository({ "a.txt": "one", "b.txt": "two" });
      const stage = await createInterceptionFixture(removeScript);
      stage.intercept(corruptOutput(2, { matches }));
      const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
      await stage.evaluate(section);
      const report = await section.cleanup();
      expect(report).toMatchObject({ added: ["p/new.txt"], changed: [], deleted: [] });
      expect(report.failed).toEqual([
        {
          path: ".",
          reason:
            "deletions could not be determined: the downloaded changes did not match their digest",
        },
      ]);
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        ...{ "p/a.txt": "one", "p/b.txt": "two", "p/new.txt": "new" },
      });
    },
  );
});
