import { describe, expect, test } from "vitest";
import { containerLimits } from "./limits.ts";

describe("a container's limits", () => {
  test("are filled in", () => {
    expect(containerLimits({ root: "/", memoryBytes: 64 * 1024 ** 3 })).toEqual({
      memoryBytes: 64 * 1024 ** 3,
      diskBytes: 1024 ** 3,
      maxProcesses: 64,
      temporaryBytes: 256 * 1024 ** 2,
    });
  });

  test("are the caller's where given", () => {
    expect(containerLimits({ root: "/", memoryBytes: 400, diskBytes: 2, maxProcesses: 3 })).toEqual(
      { memoryBytes: 400, diskBytes: 2, maxProcesses: 3, temporaryBytes: 100 },
    );
  });
});
