import { expect, test } from "vitest";
import { residentBytes } from "./memory.ts";

test("a process's memory is what the system says it holds, whoever is asked", async () => {
  const bytes = await residentBytes(process.pid);
  expect(bytes).toBeGreaterThan(20_000_000);
  expect(await residentBytes(process.pid, "darwin")).toBeGreaterThan(bytes / 2);
});

test("a process that is gone holds nothing", async () => {
  expect(await residentBytes(2 ** 22 + 1)).toBe(0);
});
