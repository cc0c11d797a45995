import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { requirePipe } from "./require-pipe.ts";

test("requirePipe() returns a pipe and rejects a missing one", () => {
  const pipe = new PassThrough();
  expect(requirePipe(pipe)).toBe(pipe);
  expect(() => requirePipe(null)).toThrow("A pipe of the sandbox's process is missing.");
});
