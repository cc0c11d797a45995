import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askOnTerminal } from "./ask-on-terminal.ts";

test.each([
  ["y\n", true],
  [" YES \n", true],
  ["\n", false],
  ["no\n", false],
  ["yesterday\n", false],
  ["", false], // the input ends
])("askOnTerminal() returns for the answer %j: %j", async (answer, isYes) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(answer);
  expect(await askOnTerminal("Delete it?", input, output)).toBe(isYes);
  expect(String(output.read())).toContain("Delete it? [y/N] ");
});
