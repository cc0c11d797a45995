import { describe, expect, test } from "vitest";
import { ALLOWED_CALLS } from "./allowed-calls.ts";
import { buildSeccompFilter } from "./build-filter.ts";
import { CALL_RULES } from "./call-rules.ts";
import { SYSTEM_CALLS } from "./system-calls.ts";

const ALLOWED = 0x7fff_0000;
const X64 = 0xc000_003e;
const ARM64 = 0xc000_00b7;

/** Evaluates the filter for a system call like the kernel does. Supports the five instructions that the filter uses. */
function evaluateFilter(
  filter: Buffer,
  number: number,
  args: readonly bigint[],
  audit = X64,
): number {
  const words = new Map([
    [0, number],
    [4, audit],
    ...args.flatMap((value, index): [number, number][] => [
      [16 + 8 * index, Number(value & 0xffff_ffffn)],
      [20 + 8 * index, Number(value >> 32n)],
    ]),
  ]);
  let loaded = 0;
  for (let at = 0; ; at += 8) {
    const value = filter.readUInt32LE(at + 4);
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = words.get(value) ?? 0;
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else {
      const holds = code === 0x15 ? loaded === value : loaded >= value;
      at += 8 * filter.readUInt8(at + (holds ? 2 : 3));
    }
  }
}

describe("The seccomp filter", () => {
  const filter = buildSeccompFilter("x64") ?? Buffer.alloc(0);
  const numbers = SYSTEM_CALLS.get("x64");
  const rejectWith = (errno: number) => 0x0005_0000 | errno;
  const call = (name: string, ...args: readonly (number | bigint)[]) =>
    evaluateFilter(filter, numbers?.get(name) ?? Number.NaN, args.map(BigInt));

  test("allows the calls in the list, all of which exist", () => {
    const known = [...SYSTEM_CALLS.values()].flatMap((table) => [...table.keys()]);
    for (const name of ALLOWED_CALLS) {
      expect(known).toContain(name);
      expect([name, call(name)]).toEqual([name, ALLOWED]);
    }
    for (const name of CALL_RULES.flatMap(({ names }) => names)) expect(known).toContain(name);
  });

  test("refuses every other call", () => {
    const ruled = new Set([...ALLOWED_CALLS, ...CALL_RULES.flatMap(({ names }) => names)]);
    const others = [...(numbers?.keys() ?? [])].filter((name) => !ruled.has(name));
    expect(others.length).toBeGreaterThan(120);
    for (const name of others) expect([name, call(name)]).toEqual([name, rejectWith(1)]);
    // Free numbers, the x32 variants of all calls, and another architecture.
    for (const number of [335, 423, 0x4000_0000, 0x4000_0001, 0xffff_ffff])
      expect(evaluateFilter(filter, number, [])).toBe(rejectWith(1));
    expect(evaluateFilter(filter, 0, [], 0x4000_0003)).toBe(rejectWith(1));
  });

  test("reports calls that are newer than its table as unknown, so that callers fall back", () => {
    for (const number of [451, 452, 999])
      expect(evaluateFilter(filter, number, [])).toBe(rejectWith(38));
  });

  test("allows new processes, but no new namespaces and no other signal at their end", () => {
    expect(call("clone", 17)).toBe(ALLOWED);
    expect(call("clone", 0x0100_0000 | 0x100)).toBe(ALLOWED);
    for (const flags of [0x1000_0000 | 17, 0x2000_0000, 0x0002_0000 | 17, 18, 9])
      expect(call("clone", flags)).toBe(rejectWith(1));
    expect(call("clone3")).toBe(rejectWith(38));
  });

  test("allows only unix sockets", () => {
    expect(call("socket", 1)).toBe(ALLOWED);
    // The kernel reads a family as an int, and so does the filter.
    expect(call("socket", 1n | (1n << 40n))).toBe(ALLOWED);
    for (const family of [0, 2, 10, 16, 17, 38, 40])
      expect(call("socket", family)).toBe(rejectWith(97));
  });

  test("allows reading the limits of others and setting its own", () => {
    expect(call("prlimit64", 1, 7, 0)).toBe(ALLOWED);
    expect(call("prlimit64", 0, 7, 0x7fff_0000_0000n)).toBe(ALLOWED);
    for (const pointer of [0x7fff_0000_0000n, 0x1000n])
      expect(call("prlimit64", 1, 7, pointer)).toBe(rejectWith(1));
  });

  test("compares several arguments of a call", () => {
    expect(call("fcntl", 3, 4, 0x800)).toBe(ALLOWED);
    expect(call("fcntl", 3, 4, 0x2800)).toBe(rejectWith(1));
    expect(call("setsockopt", 3, 1, 20)).toBe(ALLOWED);
    expect(call("setsockopt", 3, 1, 8)).toBe(rejectWith(1));
    expect(call("setsockopt", 3, 6, 20)).toBe(rejectWith(1));
  });

  test("supports two architectures and returns null for others", () => {
    const arm = buildSeccompFilter("arm64") ?? Buffer.alloc(0);
    expect(evaluateFilter(arm, 117, [], ARM64)).toBe(rejectWith(1)); // ptrace
    expect(evaluateFilter(arm, 63, [], ARM64)).toBe(ALLOWED); // read
    expect(evaluateFilter(arm, 198, [2n], ARM64)).toBe(rejectWith(97)); // socket
    expect(evaluateFilter(arm, 63, [], X64)).toBe(rejectWith(1));
    expect(buildSeccompFilter("riscv64")).toBeNull();
  });
});
