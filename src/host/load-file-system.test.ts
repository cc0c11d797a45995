import * as fs from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { loadFileSystem } from "./load-file-system.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("returns Node's file system", () => {
  expect(loadFileSystem("a.png").openAsBlob).toBe(fs.openAsBlob);
});

test.each([
  { runtime: "without process", process: undefined },
  { runtime: "without getBuiltinModule", process: { env: {} } },
  { runtime: "without the module", process: { getBuiltinModule: () => undefined } },
])("tells a runtime $runtime to pass bytes", ({ process }) => {
  vi.stubGlobal("process", process);
  expect(() => loadFileSystem("a.png")).toThrow(
    'This runtime has no file system, so "a.png" cannot be opened. Pass bytes instead of a path.',
  );
});
