import { expect, test } from "vitest";
import { readResidentBytes } from "./read-resident-bytes.ts";

test("readResidentBytes() agrees with the system's figure from both sources", async () => {
  const bytes = await readResidentBytes(process.pid);
  expect(bytes).toBeGreaterThan(20_000_000);
  expect(await readResidentBytes(process.pid, "darwin")).toBeGreaterThan(bytes / 2);
});

test("readResidentBytes() returns 0 for a process that has ended", async () => {
  expect(await readResidentBytes(2 ** 22 + 1)).toBe(0);
});
