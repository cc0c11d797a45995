import { join } from "node:path";
import { expect, test } from "vitest";
import { others, review } from "../../../tests/support/fleet/cli-loops.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { loadLoops } from "./load-loops.ts";

const LOOPS = "tests/support/fleet/cli-loops.ts";

function write(text: string): string {
  return join(temporaryTree({ "loops.mjs": text }), "loops.mjs");
}

test("loads loops from named exports and from arrays, each once", async () => {
  const loops = await loadLoops([LOOPS, LOOPS]);
  expect(new Set(loops)).toEqual(new Set([review, ...others]));
  expect(loops).toHaveLength(others.length + 1);
});

test.each([
  ["export const loops = [];", "FILE must export an AgentLoop"],
  ["export const loop = { name: 'review' }, nothing = null;", "FILE must export an AgentLoop"],
  [
    "class AgentLoop {}\nexport default [new AgentLoop()];",
    "FILE must import the same copy of weakincentives as wink",
  ],
  ["throw new Error('broken');", /^FILE must be a module that can be loaded, got ".*"\. Broken\.$/],
])("refuses a module without loops: %s", async (text, problem) => {
  await expect(loadLoops([write(text)])).rejects.toThrow(problem);
});

test("refuses a file that does not exist", async () => {
  await expect(loadLoops([LOOPS, "nowhere.mts"])).rejects.toThrow(
    'FILE must be an existing file, got "nowhere.mts". Pass the path of a module with AgentLoops.',
  );
});
