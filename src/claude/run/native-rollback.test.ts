import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { NativeRollback } from "./native-rollback.ts";

const count = defineSlice("count", { initial: 0, on: { TurnStarted: (number) => number + 1 } });
const event = {
  type: "TurnStarted",
  sessionId: "s",
  promptName: "p",
  adapter: "claude",
  createdAt: "2030-01-01T12:00:00.000Z",
  turn: 1,
} as const;

function createWorkspace(createCheckpoint = (folder: string) => new FolderCheckpoint(folder)) {
  const temporary = temporaryTree();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = join(temporaryTree({ "work/a.txt": "before" }), "work");
  const session = new Session({ id: "s" }).register(count);
  const rollback = new NativeRollback(session, createCheckpoint(folder));
  onTestFinished(() => rollback.end().catch(() => {})); // a test may have removed the folder
  return {
    folder,
    rollback,
    change() {
      writeFileSync(join(folder, "a.txt"), "after");
      writeFileSync(join(folder, "b.txt"), "new");
      session.dispatch(event);
    },
    readState: () => ({
      a: readFileSync(join(folder, "a.txt"), "utf8"),
      b: existsSync(join(folder, "b.txt")),
      count: session.get(count),
    }),
    listCopies: () => readdirSync(temporary),
  };
}

const before = { a: "before", b: false, count: 0 };
const after = { a: "after", b: true, count: 1 };

describe("NativeRollback", () => {
  test.each(["Bash", "Edit", "Write"])("rolls back a failed call to %s", async (name) => {
    const { rollback, change, readState } = createWorkspace();
    await rollback.beforeCall("t1", name);
    change();
    await rollback.afterCall("t1", true);
    expect(readState()).toEqual(before);
  });

  test("keeps the changes of a successful call when the run ends", async () => {
    const { rollback, change, readState, listCopies } = createWorkspace();
    await rollback.beforeCall("t1", "Bash");
    change();
    await rollback.afterCall("t1", false);
    await rollback.end();
    expect(readState()).toEqual(after);
    expect(listCopies()).toEqual([]);
  });

  test("keeps the changes of earlier calls when a call fails", async () => {
    const { rollback, folder, change, readState } = createWorkspace();
    await rollback.beforeCall("t1", "Write");
    change();
    await rollback.afterCall("t1", false);
    await rollback.beforeCall("t2", "Bash");
    rmSync(join(folder, "a.txt"));
    await rollback.afterCall("t2", true);
    expect(readState()).toEqual(after);
  });

  test.each(["Read", "Glob", "Grep", "WebSearch"])(
    "takes no snapshot for the read-only tool %s",
    async (name) => {
      const { rollback, change, readState, listCopies } = createWorkspace();
      await rollback.beforeCall("t1", name);
      expect(listCopies()).toEqual([]);
      change();
      await rollback.afterCall("t1", true);
      await rollback.end();
      expect(readState()).toEqual(after);
    },
  );

  test("rolls back a failed call even if a read-only call has ended in between", async () => {
    const { rollback, change, readState } = createWorkspace();
    await rollback.beforeCall("t1", "Bash");
    await rollback.beforeCall("t2", "Read");
    change();
    await rollback.afterCall("t2", true);
    expect(readState()).toEqual(after);
    await rollback.afterCall("t1", true);
    expect(readState()).toEqual(before);
  });
});

describe("NativeRollback.end()", () => {
  test("rolls back a running call and removes the undo copy", async () => {
    const { rollback, change, readState, listCopies } = createWorkspace();
    await rollback.beforeCall("t1", "Bash");
    expect(listCopies()).not.toEqual([]);
    change();
    await rollback.end();
    expect(readState()).toEqual(before);
    expect(listCopies()).toEqual([]);
  });

  test("rolls back nothing if no call is running", async () => {
    const { rollback, change, readState } = createWorkspace();
    change();
    await rollback.end();
    await rollback.end();
    expect(readState()).toEqual(after);
  });

  test("removes the undo copy even if the files cannot be restored", async () => {
    const { rollback, folder, listCopies } = createWorkspace();
    await rollback.beforeCall("t1", "Bash");
    rmSync(dirname(folder), { recursive: true });
    await expect(rollback.end()).rejects.toThrow();
    expect(listCopies()).toEqual([]);
  });
});

// A restore continues after a failure and reports it in its result.
test("NativeRollback names files that could not be restored", async () => {
  const failed = [{ path: "a.txt", reason: "EACCES" }];
  class FailingCheckpoint extends FolderCheckpoint {
    override async restore() {
      return { restored: [], removed: [], failed };
    }
  }
  const { rollback, change } = createWorkspace((folder) => new FailingCheckpoint(folder));
  await rollback.beforeCall("t1", "Bash");
  change();
  const rolledBack = rollback.afterCall("t1", true);
  await expect(rolledBack).rejects.toThrow(
    'These files could not be restored: "a.txt" (EACCES). Restore them manually.',
  );
});
