import { expect, test } from "vitest";
import { describeFilter } from "./describe-filter.ts";

test("A missing system call filter is reported, and only then", () => {
  expect(describeFilter("arm64")).toBe("");
  expect(describeFilter("riscv64")).toContain("exists for x64 and arm64 only, not for riscv64");
});
