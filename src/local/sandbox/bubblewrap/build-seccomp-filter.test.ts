import { describe, expect, test } from "vitest";
import { buildSeccompFilter } from "./build-seccomp-filter.ts";

const ALLOWED = 0x7fff_0000;
const X64 = 0xc000_003e;

/** Evaluates the filter for a system call like the kernel does. Supports the five instructions that the filter uses. */
function evaluateFilter(filter: Buffer, number: number, first: number, audit = X64): number {
  const words = new Map([
    [0, number],
    [4, audit],
    [16, first],
  ]);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = words.get(value) ?? Number.NaN;
    else {
      const holds =
        code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += 8 * filter.readUInt8(at + (holds ? 2 : 3));
    }
  }
}

describe("The seccomp filter", () => {
  const filter = buildSeccompFilter("x64") ?? Buffer.alloc(0);
  const rejectWith = (errno: number) => 0x0005_0000 | errno;

  test("allows ordinary system calls", () => {
    for (const number of [0, 1, 2, 57, 59, 60, 202, 257]) {
      expect(evaluateFilter(filter, number, 0)).toBe(ALLOWED);
    }
  });

  test("blocks ptrace, mount and unshare, and calls from another table or architecture", () => {
    for (const number of [101, 165, 272, 425, 0x4000_0000]) {
      expect(evaluateFilter(filter, number, 0)).toBe(rejectWith(1));
    }
    expect(evaluateFilter(filter, 0, 0, 0x4000_0003)).toBe(rejectWith(1));
  });

  test("allows new processes, but no new namespaces", () => {
    expect(evaluateFilter(filter, 56, 17)).toBe(ALLOWED);
    expect(evaluateFilter(filter, 56, 0x1000_0000 | 17)).toBe(rejectWith(1));
    expect(evaluateFilter(filter, 435, 0)).toBe(rejectWith(38));
  });

  test("allows only sockets that a network namespace confines", () => {
    for (const family of [1, 2, 10, 16]) expect(evaluateFilter(filter, 41, family)).toBe(ALLOWED);
    for (const family of [0, 17, 38, 40])
      expect(evaluateFilter(filter, 41, family)).toBe(rejectWith(97));
  });

  test("supports two architectures and returns null for others", () => {
    const arm = buildSeccompFilter("arm64") ?? Buffer.alloc(0);
    expect(evaluateFilter(arm, 117, 0, 0xc000_00b7)).toBe(rejectWith(1));
    expect(evaluateFilter(arm, 63, 0, 0xc000_00b7)).toBe(ALLOWED);
    expect(buildSeccompFilter("riscv64")).toBeNull();
  });
});
