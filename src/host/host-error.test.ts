import { expect, test } from "vitest";
import { FilesystemError } from "../base/filesystem-error.ts";
import { hostError, unless } from "./host-error.ts";

const machine = (code: string) =>
  Object.assign(new Error(`${code}: what it says, open '/home/me/f'`), { code });

test.each([
  ["ENOENT", "ENOENT", '"f" does not exist'],
  ["ENOTDIR", "ENOTDIR", '"f" is below something that is not a directory'],
  ["EISDIR", "EISDIR", '"f" is a directory: name a file in it'],
  ["ENOTEMPTY", "EISDIR", '"f" is a directory that is not empty'],
  ["EEXIST", "EEXIST", '"f" was refused by this machine: EEXIST: what it says'],
  ["ENAMETOOLONG", "EINVAL", '"f" was refused by this machine'],
  ["ENOSPC", "EFBIG", '"f" was refused by this machine: ENOSPC: what it says'],
  ["EPERM", "EACCES", '"f" was refused by this machine: EPERM: what it says'],
  ["EMFILE", "EACCES", '"f" was refused by this machine: EMFILE: what it says'],
])("%s of the machine is %s, and says so", (code, ours, message) => {
  const cause = machine(code);
  const error = hostError("f", cause);
  expect(error).toMatchObject({ code: ours, path: "f", cause });
  expect(error.message).toContain(`${ours}: ${message}`);
  expect(error.message).not.toContain("/home/me");
});

test("an error of ours stays what it is, and anything else has its message", () => {
  const error = new FilesystemError("EINVAL", "g", "is odd");
  expect(hostError("f", error)).toBe(error);
  expect(hostError("f", "boom")).toMatchObject({ code: "EACCES", cause: "boom" });
  expect(hostError("f", Object.assign(new Error("odd"), { code: 3 })).code).toBe("EACCES");
});

test("a failure can be taken for success by its code, and no other", async () => {
  await unless(Promise.reject(machine("ENOENT")), "EEXIST", "ENOENT");
  await expect(unless(Promise.reject(machine("EPERM")), "ENOENT")).rejects.toThrow("EPERM");
  await expect(unless(Promise.reject(new Error("no")), "ENOENT")).rejects.toThrow("no");
});
