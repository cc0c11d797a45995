import { afterEach, expect, test, vi } from "vitest";
import { warn } from "./warn.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("a warning goes to the process, with what went wrong", () => {
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
  ["one that takes no warnings", {}],
])("with %s it goes to the console", (_where, process) => {
  const said = vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.stubGlobal("process", process);
  warn("A subscriber failed", new Error("boom"));
  vi.unstubAllGlobals();
  expect(said.mock.calls).toEqual([["A subscriber failed: boom"]]);
});
