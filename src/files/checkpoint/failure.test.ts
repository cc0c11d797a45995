import { describe, expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { SyncRefusal } from "../sync/sync-reason.ts";
import { restoreReason, takeError } from "./failure.ts";
import { Stopped } from "./stop-flag.ts";

const hostFailure = (code: string, said: string) =>
  Object.assign(new Error(`${code}: ${said}, open '/proc/self/fd/7/name'`), { code });

describe("what this machine says of a file", () => {
  test.each([
    [
      "ENOSPC",
      "EFBIG",
      "finds no room left on the disk: free some, or set TMPDIR to a folder with",
    ],
    ["EPERM", "EACCES", "is not open to this user: a checkpoint has a copy of everything"],
    [
      "EIO",
      "EACCES",
      "was refused by this machine: EIO: said: see to it, then take the checkpoint",
    ],
  ])("is a FilesystemError where a checkpoint is taken: %s", (code, ours, problem) => {
    const cause = hostFailure(code, "said");
    expect(takeError(cause, "/a/b")).toMatchObject({
      name: "FilesystemError",
      code: ours,
      path: "/a/b",
      message: expect.stringContaining(`"/a/b" ${problem}`),
      cause,
    });
  });

  test.each([
    ["ENOSPC", "it finds no room left on the disk: free some, then restore again"],
    ["ENOTDIR", "it is not a folder: somebody else changes it meanwhile: wait for them"],
    ["EBUSY", "it was refused by this machine: EBUSY: said: see to it, then restore again"],
  ])("is a reason where a folder is restored: %s", (code, reason) => {
    expect(restoreReason(hostFailure(code, "said"))).toContain(reason);
  });
});

test("what is ours already stays as it is", () => {
  const ours = new FilesystemError("EACCES", "a", "is closed");
  const stopped = new Stopped("It was told to stop");
  expect(takeError(ours, "b")).toBe(ours);
  expect(takeError(stopped, "b")).toBe(stopped);
  expect(restoreReason(new SyncRefusal("because"))).toBe("because");
});
