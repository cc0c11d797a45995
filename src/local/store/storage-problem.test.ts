import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { ApiProblem } from "../api-problem.ts";
import { explainStorage, toDataDirError, toStorageProblem } from "./storage-problem.ts";

const createError = (fields: object) => Object.assign(new Error("no"), fields);

describe("toStorageProblem()", () => {
  test.each([
    [{ code: "ENOSPC" }, 507, "has no space left (no). Free space on its disk, or start"],
    [{ code: "EDQUOT" }, 507, "has no space left"],
    [{ code: "EROFS" }, 500, "is on a read-only disk"],
    [{ code: "EACCES" }, 500, "may not be written to by this user"],
    [{ code: "EIO" }, 500, "Check the disk"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 13 }, 507, "has no space left"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 1032 }, 500, "read-only"],
    [{ code: "ERR_SQLITE_ERROR", errcode: 778 }, 500, "reports errors"],
  ])("names the place and the remedy for %j", (fields, status, text) => {
    const problem = toStorageProblem(createError(fields), "/data");
    expect(problem).toMatchObject({
      status,
      code: "storage_unavailable",
      message: expect.stringContaining(text),
      headers: { "x-should-retry": "false" },
    });
    expect(problem).toMatchObject({ message: expect.stringContaining("folder /data ") });
  });

  test("reads errors that programs report as text", () => {
    for (const text of ["mke2fs: No space left on device", "mount: Read-only file system"])
      expect(toStorageProblem(new Error(text), "/data")).toBeInstanceOf(ApiProblem);
  });

  test("returns other errors unchanged", () => {
    const sqlite = createError({ errcode: 19 });
    for (const error of ["text", createError({}), createError({ code: "ENOENT" }), sqlite])
      expect(toStorageProblem(error, "/data")).toBe(error);
  });
});

describe("toDataDirError()", () => {
  test("names the option", () => {
    const full = createError({ code: "ENOSPC" });
    for (const error of [full, toStorageProblem(full, "/data")]) {
      const found = toDataDirError(error, "/data");
      expect(found).toBeInstanceOf(InvalidOptionError);
      expect(found).toMatchObject({
        message: expect.stringMatching(/^dataDir must be .* has no space left .*free space on/i),
      });
    }
  });

  test("returns other errors unchanged", () => {
    const other = new ApiProblem(500, "no");
    expect(toDataDirError(other, "/data")).toBe(other);
    const known = toDataDirError(createError({ code: "EROFS" }), "/data");
    expect(toDataDirError(known, "/data")).toBe(known);
  });
});

test("explainStorage() explains errors of its work, and returns its result", async () => {
  expect(await explainStorage("/data", () => 1)).toBe(1);
  const fail = () => Promise.reject(createError({ code: "EROFS" }));
  await expect(explainStorage("/data", fail)).rejects.toThrow("read-only disk");
});
