import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryTree } from "./support/temporary-tree.ts";

const VITEST = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const REPORTER = fileURLToPath(new URL("support/report-unstable.ts", import.meta.url));
const UNSTABLE = 'let n = 0; test("waits", () => { expect(n++).toBe(1); });';

/** Runs test files in a process, as `.ci/run` does, and returns its exit code and output. */
function runTests(files: Record<string, string>): Promise<{ code: number; out: string }> {
  const root = temporaryTree(files);
  const flags = ["--retry=1", "--reporter=default", `--reporter=${REPORTER}`, "--globals"];
  const env = { ...process.env, NO_COLOR: "1", VITEST: undefined, VITEST_MODE: undefined };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [VITEST, "run", "--root", root, ...flags],
      { cwd: root, env },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
    );
  });
}

test("a test that passes on its second try is listed with the error of the first", async () => {
  const { code, out } = await runTests({ "a.test.ts": UNSTABLE });
  expect(out).toContain("a.test.ts › waits\n    first try: expected +0 to be 1");
  expect([code, out.includes("may be unstable")]).toEqual([0, false]);
});

test("a run without such a test reports none", async () => {
  const { code, out } = await runTests({ "a.test.ts": 'test("ok", () => expect(1).toBe(1));' });
  expect([code, out.includes("Unstable")]).toEqual([0, false]);
});

test("a test that fails twice fails the run", async () => {
  const { code } = await runTests({ "a.test.ts": 'test("no", () => expect(1).toBe(2));' });
  expect(code).toBe(1);
});

test.each([
  ["of an attack", { "tests/attacks/a.test.ts": UNSTABLE }],
  ["of a crash", { "tests/kill-storm.long.test.ts": UNSTABLE }],
  [
    "too many of them",
    {
      "a.test.ts": [1, 2, 3, 4]
        .map((k) => `let n${k} = 0; test("${k}", () => { expect(n${k}++).toBe(1); });`)
        .join(""),
    },
  ],
])("an unstable test fails the run: %s", async (_, files) => {
  const { code, out } = await runTests(files);
  expect([code, out]).toEqual([1, expect.stringContaining("may be unstable")]);
});
