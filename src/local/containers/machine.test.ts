import { describe, expect, test, vi } from "vitest";
import { chooseMaxInterpreters, readMachine, reduceMemory } from "./machine.ts";

const GIBIBYTE = 2 ** 30;
const machine = { memoryBytes: 23 * GIBIBYTE, availableBytes: 20 * GIBIBYTE, cores: 2 };

describe("readMachine()", () => {
  test("uses the limit of the process's cgroup if that is lower than the machine's memory", () => {
    const total = readMachine().memoryBytes;
    const constrained = vi.spyOn(process, "constrainedMemory");
    constrained.mockReturnValue(1000);
    expect(readMachine().memoryBytes).toBe(1000);
    constrained.mockReturnValue(0);
    expect(readMachine().memoryBytes).toBeGreaterThanOrEqual(total);
    constrained.mockReturnValue(2 ** 60);
    expect(readMachine().memoryBytes).toBeLessThan(2 ** 60);
    constrained.mockRestore();
  });
});

describe("chooseMaxInterpreters()", () => {
  test.each([
    [23, 2, 16],
    [4, 16, 8],
    [0.5, 1, 2],
    [512, 64, 64],
  ])("with %d GiB and %d cores is %d", (memory, cores, expected) => {
    const memoryBytes = memory * GIBIBYTE;
    expect(chooseMaxInterpreters({ ...machine, memoryBytes, cores })).toBe(expected);
  });
});

describe("reduceMemory()", () => {
  test("keeps what the machine can give", () => {
    expect(reduceMemory(GIBIBYTE, machine)).toBe(GIBIBYTE);
    expect(reduceMemory(16 * GIBIBYTE, machine)).toBe(16 * GIBIBYTE);
  });

  test("gives at most three quarters of the memory and nine tenths of what is free", () => {
    expect(reduceMemory(64 * GIBIBYTE, machine)).toBe(Math.floor(23 * 1024 * 0.75) * 2 ** 20);
    const busy = { ...machine, availableBytes: 2 * GIBIBYTE };
    expect(reduceMemory(4 * GIBIBYTE, busy)).toBe(Math.floor(2048 * 0.9) * 2 ** 20);
    const full = { ...machine, availableBytes: 0 };
    expect(reduceMemory(GIBIBYTE, full)).toBe(256 * 2 ** 20);
  });
});
