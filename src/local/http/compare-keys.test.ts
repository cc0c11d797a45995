import { expect, test } from "vitest";
import { compareKeys } from "./compare-keys.ts";

test("compareKeys() accepts only equal keys, of any length", () => {
  expect(compareKeys("sk-1", "sk-1")).toBe(true);
  for (const other of ["", "sk-", "sk-12", "sk-2", "SK-1"])
    expect(compareKeys(other, "sk-1")).toBe(false);
});
