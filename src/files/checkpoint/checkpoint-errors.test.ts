import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { SyncError } from "../sync/sync-failure.ts";
import { toCheckpointError, toRestoreReason } from "./checkpoint-errors.ts";
import { StoppedError } from "./stop-flag.ts";

const createHostError = (code: string, said: string) =>
  Object.assign(new Error(`${code}: ${said}, open '/proc/self/fd/7/name'`), { code });

describe("a system error of a checkpoint", () => {
  test.each([
    [
      "ENOSPC",
      "EFBIG",
      "does not fit on the disk. Free some space, or set TMPDIR to a folder with",
    ],
    ["EPERM", "EACCES", "is not accessible to this user. Let this user read it"],
    ["EIO", "EACCES", "failed with EIO: said. Fix the cause, then take the checkpoint again."],
  ])("becomes a FilesystemError when a checkpoint is taken: %s", (code, ours, problem) => {
    const cause = createHostError(code, "said");
    expect(toCheckpointError(cause, "/a/b")).toMatchObject({
      name: "FilesystemError",
      code: ours,
      path: "/a/b",
      message: expect.stringContaining(`"/a/b" ${problem}`),
      cause,
    });
  });

  test.each([
    ["ENOSPC", "It does not fit on the disk. Free some space, then restore again."],
    ["ENOTDIR", "It is not a folder. Another process is changing it. Wait until it is done"],
    ["EBUSY", "It failed with EBUSY: said. Fix the cause, then restore again."],
  ])("becomes a reason when a folder is restored: %s", (code, reason) => {
    expect(toRestoreReason(createHostError(code, "said"))).toContain(reason);
  });
});

test("toCaptureError() and toRestoreReason() pass through the module's own errors", () => {
  const ours = new FilesystemError("EACCES", "a", "is closed");
  const stopped = new StoppedError("A stop was requested");
  expect(toCheckpointError(ours, "b")).toBe(ours);
  expect(toCheckpointError(stopped, "b")).toBe(stopped);
  expect(toRestoreReason(new SyncError("because"))).toBe("because");
});
