import { describe, expect, test } from "vitest";
import { toContainerLimits } from "./container-limits.ts";

describe("toContainerLimits()", () => {
  test("applies the defaults", () => {
    expect(toContainerLimits({ root: "/", memoryBytes: 64 * 1024 ** 3 })).toEqual({
      memoryBytes: 64 * 1024 ** 3,
      diskBytes: 1024 ** 3,
      maxProcesses: 64,
      temporaryBytes: 256 * 1024 ** 2,
    });
  });

  test("keeps the caller's values", () => {
    expect(
      toContainerLimits({ root: "/", memoryBytes: 400, diskBytes: 2, maxProcesses: 3 }),
    ).toEqual({ memoryBytes: 400, diskBytes: 2, maxProcesses: 3, temporaryBytes: 100 });
  });
});
