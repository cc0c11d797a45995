import { expect, test } from "vitest";
import { BoundedOutput } from "../bounded-output.ts";
import { toContainerLimits } from "../container-limits.ts";
import type { ExceededLimit } from "../kernel/parse-answer.ts";
import { explainEnding, explainInterpreterEnd } from "./explain-ending.ts";
import type { RunEnding } from "./run-in-sandbox.ts";

const LIMITS = toContainerLimits({ root: "/", memoryBytes: 7, diskBytes: 8 });

function explainEnd(ending: RunEnding, timedOut: boolean): string {
  const output = new BoundedOutput(0);
  const run = { timeoutMs: 5, maxOutputBytes: 0 };
  return explainInterpreterEnd({ ending, timedOut, stdout: output, stderr: output }, run, LIMITS);
}

test("explainInterpreterEnd() names the cause", () => {
  expect(explainEnd({ kind: "exit", code: 3 }, false)).toContain("ended with exit code 3.");
  expect(explainEnd({ kind: "exit", code: -11 }, false)).toContain("killed by signal 11.");
  expect(explainEnd({ kind: "vanished" }, true)).toContain(
    "kept running when interrupted after 5 ms.",
  );
  expect(explainEnd({ kind: "vanished" }, false)).toBe(
    "The interpreter ended unexpectedly. Its variables are lost.",
  );
  expect(explainEnd({ kind: "violation", limit: "memory", idle: false }, true)).toContain(
    "may use at most 7 bytes of memory",
  );
});

test.each<[ExceededLimit, string]>([
  ["memory", "7 bytes"],
  ["disk", "8 bytes"],
  ["temporary", "/tmp"],
  ["depth", "400 levels deep"],
  ["protocol", "a process other than the interpreter"],
  ["hidden", "could not be measured"],
  ["idle", "ran between two runs"],
])("explainEnding() explains an exceeded limit: %s", (limit, words) => {
  expect(explainEnding({ kind: "violation", limit, idle: false }, LIMITS)).toContain(words);
  expect(explainEnding({ kind: "vanished" }, LIMITS)).toBeNull();
});
