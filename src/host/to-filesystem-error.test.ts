import { expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import { ignoreErrorCodes, toFilesystemError } from "./to-filesystem-error.ts";

const createHostError = (code: string) =>
  Object.assign(new Error(`${code}: what it says, open '/home/me/f'`), { code });

test.each([
  ["ENOENT", "ENOENT", '"f" does not exist'],
  ["ENOTDIR", "ENOTDIR", '"f" has a parent that is not a directory'],
  ["EISDIR", "EISDIR", '"f" is a directory. Name a file inside it.'],
  ["ENOTEMPTY", "EISDIR", '"f" is a directory that is not empty'],
  ["EEXIST", "EEXIST", '"f" was rejected by the host: EEXIST: what it says'],
  ["ENAMETOOLONG", "EINVAL", '"f" was rejected by the host'],
  ["ENOSPC", "EFBIG", '"f" was rejected by the host: ENOSPC: what it says'],
  ["EPERM", "EACCES", '"f" was rejected by the host: EPERM: what it says'],
  ["EMFILE", "EACCES", '"f" was rejected by the host: EMFILE: what it says'],
])("toFilesystemError() converts %s to %s with a clear message", (code, ours, message) => {
  const cause = createHostError(code);
  const error = toFilesystemError("f", cause);
  expect(error).toMatchObject({ code: ours, path: "f", cause });
  expect(error.message).toContain(`${ours}: ${message}`);
  expect(error.message).not.toContain("/home/me");
});

test("toFilesystemError() returns a FilesystemError unchanged and uses the message of any other value", () => {
  const error = new FilesystemError("EINVAL", "g", "is odd");
  expect(toFilesystemError("f", error)).toBe(error);
  expect(toFilesystemError("f", "boom")).toMatchObject({ code: "EACCES", cause: "boom" });
  expect(toFilesystemError("f", Object.assign(new Error("odd"), { code: 3 })).code).toBe("EACCES");
});

test("ignoreErrorCodes() ignores only errors with the given codes", async () => {
  await ignoreErrorCodes(Promise.reject(createHostError("ENOENT")), "EEXIST", "ENOENT");
  await expect(
    ignoreErrorCodes(Promise.reject(createHostError("EPERM")), "ENOENT"),
  ).rejects.toThrow("EPERM");
  await expect(ignoreErrorCodes(Promise.reject(new Error("no")), "ENOENT")).rejects.toThrow("no");
});
