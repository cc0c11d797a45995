import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import { Session } from "../../session/session.ts";
import { defineSlice } from "../../session/slice.ts";
import { NativeRollback } from "./rollback.ts";

const count = defineSlice("count", { initial: 0, on: { TurnStarted: (number) => number + 1 } });
const event = {
  type: "TurnStarted",
  sessionId: "s",
  promptName: "p",
  adapter: "claude",
  createdAt: "2030-01-01T12:00:00.000Z",
  turn: 1,
} as const;

function workspace(make = (folder: string) => new FolderCheckpoint(folder)) {
  const temporary = temporaryTree();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = join(temporaryTree({ "work/a.txt": "before" }), "work");
  const session = new Session({ id: "s" }).register(count);
  const rollback = new NativeRollback(session, make(folder));
  onTestFinished(() => rollback.end().catch(() => {})); // what a test has broken stays so
  return {
    folder,
    rollback,
    change() {
      writeFileSync(join(folder, "a.txt"), "after");
      writeFileSync(join(folder, "b.txt"), "new");
      session.dispatch(event);
    },
    now: () => ({
      a: readFileSync(join(folder, "a.txt"), "utf8"),
      b: existsSync(join(folder, "b.txt")),
      count: session.get(count),
    }),
    copies: () => readdirSync(temporary),
  };
}

const before = { a: "before", b: false, count: 0 };
const after = { a: "after", b: true, count: 1 };

describe("a call of the SDK's own tools", () => {
  test.each(["Bash", "Edit", "Write"])("that fails is undone: %s", async (name) => {
    const { rollback, change, now } = workspace();
    await rollback.before("t1", name);
    change();
    await rollback.after("t1", true);
    expect(now()).toEqual(before);
  });

  test("that succeeds stays, whatever becomes of the run", async () => {
    const { rollback, change, now, copies } = workspace();
    await rollback.before("t1", "Bash");
    change();
    await rollback.after("t1", false);
    await rollback.end();
    expect(now()).toEqual(after);
    expect(copies()).toEqual([]);
  });

  test("that fails undoes nothing of those before it", async () => {
    const { rollback, folder, change, now } = workspace();
    await rollback.before("t1", "Write");
    change();
    await rollback.after("t1", false);
    await rollback.before("t2", "Bash");
    rmSync(join(folder, "a.txt"));
    await rollback.after("t2", true);
    expect(now()).toEqual(after);
  });

  test.each(["Read", "Glob", "Grep", "WebSearch"])(
    "that changes nothing costs nothing, and undoes nothing: %s",
    async (name) => {
      const { rollback, change, now, copies } = workspace();
      await rollback.before("t1", name);
      expect(copies()).toEqual([]);
      change();
      await rollback.after("t1", true);
      await rollback.end();
      expect(now()).toEqual(after);
    },
  );

  test("that fails is undone, though one that only reads has ended meanwhile", async () => {
    const { rollback, change, now } = workspace();
    await rollback.before("t1", "Bash");
    await rollback.before("t2", "Read");
    change();
    await rollback.after("t2", true);
    expect(now()).toEqual(after);
    await rollback.after("t1", true);
    expect(now()).toEqual(before);
  });
});

describe("at the end of the run", () => {
  test("a call that was in flight is undone, and the copy is gone", async () => {
    const { rollback, change, now, copies } = workspace();
    await rollback.before("t1", "Bash");
    expect(copies()).not.toEqual([]);
    change();
    await rollback.end();
    expect(now()).toEqual(before);
    expect(copies()).toEqual([]);
  });

  test("nothing is undone where nothing was begun", async () => {
    const { rollback, change, now } = workspace();
    change();
    await rollback.end();
    await rollback.end();
    expect(now()).toEqual(after);
  });

  test("the copy is gone even if the files could not be put back", async () => {
    const { rollback, folder, copies } = workspace();
    await rollback.before("t1", "Bash");
    rmSync(dirname(folder), { recursive: true });
    await expect(rollback.end()).rejects.toThrow();
    expect(copies()).toEqual([]);
  });
});

// A restore goes on after what fails, and tells of it in its result.
test("files that could not be put back are named", async () => {
  const failed = [{ path: "a.txt", reason: "EACCES" }];
  class Partial extends FolderCheckpoint {
    override async restore() {
      return { restored: [], removed: [], failed };
    }
  }
  const { rollback, change } = workspace((folder) => new Partial(folder));
  await rollback.before("t1", "Bash");
  change();
  const undoing = rollback.after("t1", true);
  await expect(undoing).rejects.toThrow('Not all files could be put back: "a.txt" (EACCES)');
});
