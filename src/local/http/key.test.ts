import { expect, test } from "vitest";
import { isKey } from "./key.ts";

test("a key is itself and nothing else, of whatever length", () => {
  expect(isKey("sk-1", "sk-1")).toBe(true);
  for (const other of ["", "sk-", "sk-12", "sk-2", "SK-1"])
    expect(isKey(other, "sk-1")).toBe(false);
});
