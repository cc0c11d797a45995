import { expect, test } from "vitest";
import type { ExceededLimit } from "../kernel/answers.ts";
import { containerLimits } from "../limits.ts";
import { BoundedOutput } from "../output.ts";
import { explainEnding, interpreterEnded } from "./endings.ts";
import type { RunEnding } from "./run.ts";

const LIMITS = containerLimits({ root: "/", memoryBytes: 7, diskBytes: 8 });

function ended(ending: RunEnding, timedOut: boolean): string {
  const output = new BoundedOutput(0);
  const run = { timeoutMs: 5, maxOutputBytes: 0 };
  return interpreterEnded({ ending, timedOut, stdout: output, stderr: output }, run, LIMITS);
}

test("the end of an interpreter is told by its cause", () => {
  expect(ended({ kind: "exit", code: 3 }, false)).toContain("ended with exit code 3.");
  expect(ended({ kind: "exit", code: -11 }, false)).toContain("ended by signal 11.");
  expect(ended({ kind: "vanished" }, true)).toContain("went on when interrupted after 5 ms.");
  expect(ended({ kind: "vanished" }, false)).toBe(
    "The interpreter is gone. Its variables are lost.",
  );
  expect(ended({ kind: "violation", limit: "memory" }, true)).toContain(
    "may use 7 bytes of memory",
  );
});

test.each<[ExceededLimit, string]>([
  ["memory", "7 bytes"],
  ["disk", "8 bytes"],
  ["temporary", "/tmp"],
  ["depth", "400 deep"],
  ["protocol", "something else"],
])("exceeding the limit on %s is explained", (limit, words) => {
  expect(explainEnding({ kind: "violation", limit }, LIMITS)).toContain(words);
  expect(explainEnding({ kind: "vanished" }, LIMITS)).toBeNull();
});
