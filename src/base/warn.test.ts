import { afterEach, expect, test, vi } from "vitest";
import { warn } from "./warn.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("warn() emits a process warning with the error's message", () => {
  const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  warn("A subscriber failed", new Error("boom"));
  warn("A subscriber failed", "boom");
  expect(emitted.mock.calls).toEqual([
    ["A subscriber failed: boom", "WinkWarning"],
    ['A subscriber failed: "boom"', "WinkWarning"],
  ]);
});

test.each([
  ["no process", undefined],
  ["a process without emitWarning", {}],
])("warn() writes to the console with %s", (_where, process) => {
  const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.stubGlobal("process", process);
  warn("A subscriber failed", new Error("boom"));
  vi.unstubAllGlobals();
  expect(warning.mock.calls).toEqual([["A subscriber failed: boom"]]);
});
