import { describe, expect, test } from "vitest";
import { seccompFilter } from "./seccomp.ts";

const ALLOWED = 0x7fff_0000;
const X64 = 0xc000_003e;

/** What the kernel would do with a call, by the same five instructions that the filter uses. */
function verdict(filter: Buffer, number: number, first: number, audit = X64): number {
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

describe("the filter of system calls", () => {
  const filter = seccompFilter("x64") ?? Buffer.alloc(0);
  const refused = (errno: number) => 0x0005_0000 | errno;

  test("lets ordinary calls pass", () => {
    for (const number of [0, 1, 2, 57, 59, 60, 202, 257]) {
      expect(verdict(filter, number, 0)).toBe(ALLOWED);
    }
  });

  test("refuses ptrace, mount and unshare, and calls of another table or machine", () => {
    for (const number of [101, 165, 272, 425, 0x4000_0000]) {
      expect(verdict(filter, number, 0)).toBe(refused(1));
    }
    expect(verdict(filter, 0, 0, 0x4000_0003)).toBe(refused(1));
  });

  test("lets processes be made, but no namespaces", () => {
    expect(verdict(filter, 56, 17)).toBe(ALLOWED);
    expect(verdict(filter, 56, 0x1000_0000 | 17)).toBe(refused(1));
    expect(verdict(filter, 435, 0)).toBe(refused(38));
  });

  test("lets sockets be made that a network namespace confines, and no others", () => {
    for (const family of [1, 2, 10, 16]) expect(verdict(filter, 41, family)).toBe(ALLOWED);
    for (const family of [0, 17, 38, 40]) expect(verdict(filter, 41, family)).toBe(refused(97));
  });

  test("knows two machines and says of others that it has nothing", () => {
    const arm = seccompFilter("arm64") ?? Buffer.alloc(0);
    expect(verdict(arm, 117, 0, 0xc000_00b7)).toBe(refused(1));
    expect(verdict(arm, 63, 0, 0xc000_00b7)).toBe(ALLOWED);
    expect(seccompFilter("riscv64")).toBeNull();
  });
});
