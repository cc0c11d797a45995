import { describe, expect, test } from "vitest";
import {
  isBubblewrapUsable,
  MEBIBYTE,
  openTarget,
} from "../../../../tests/support/attacks/bubblewrap-target.ts";
import { WORKLOAD } from "../../../../tests/support/sandbox/workload.ts";

describe.skipIf(!(await isBubblewrapUsable()))("Under the system call filter", () => {
  for (const { name, run, code, needs } of WORKLOAD) {
    test(name, { timeout: 120_000 }, async (context) => {
      const target = await openTarget({
        memoryBytes: 2_048 * MEBIBYTE,
        diskBytes: 512 * MEBIBYTE,
        maxProcesses: 128,
      });
      const limits = { timeoutMs: 90_000 };
      if (needs !== undefined) {
        const check = `command -v ${needs} || python3 -c 'import ${needs}'`;
        const { exitCode } = await target.shell(check, limits);
        context.skip(exitCode !== 0, `${needs} is not installed`);
      }
      const { stdout, stderr, ...rest } = await target[run](code, limits);
      expect({ stderr, ...rest, last: stdout.trimEnd().split("\n").at(-1) }).toMatchObject({
        ...(run === "python" ? { error: null } : { exitCode: 0 }),
        last: "ok",
      });
    });
  }
});
