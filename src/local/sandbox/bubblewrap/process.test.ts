import { describe, expect, test } from "vitest";
import { bubblewrapRuns, processesOf } from "../../../../tests/support/attacks/bubblewrap-stage.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { systemClock } from "../../../base/clock.ts";
import { containerLimits } from "../limits.ts";
import { BubblewrapProcess } from "./process.ts";

const RUN = { timeoutMs: 4_000, maxOutputBytes: 1_000 };

function bareProcess(
  bubblewrap: string,
  root = temporaryTree({ "a.txt": "a" }),
): BubblewrapProcess {
  return new BubblewrapProcess(
    {
      bubblewrap,
      python: "/usr/bin/python3",
      root,
      identity: { kind: "namespace" },
      limits: containerLimits({ root, memoryBytes: 300 * 1024 ** 2 }),
      seccomp: null,
      clock: systemClock,
    },
    500,
  );
}

describe.skipIf(!(await bubblewrapRuns()))("a container's process", () => {
  test("runs without a filter and without a user of its own, where neither is to be had", async () => {
    await using container = bareProcess("bwrap");
    expect((await container.python("open('a.txt').read()", RUN)).stdout).toBe("'a'\n");
    expect((await container.shell("id -u; cat a.txt", RUN)).stdout).toBe("1000\na");
  });

  test("does not start anew when it is disposed of while it starts", async () => {
    // At a different moment of the start each time.
    for (let wait = 0; wait < 30; wait++) {
      const root = temporaryTree();
      const container = bareProcess("bwrap", root);
      const run = container.python("1", RUN).catch(String);
      await new Promise((resolve) => setTimeout(resolve, wait));
      await container[Symbol.asyncDispose]();
      const outcome = await run;
      if (typeof outcome === "string") expect(outcome).toContain("process was disposed of");
      else expect(outcome.stdout === "1\n" || outcome.died).toBe(true);
      expect(processesOf(root)).toEqual([]);
    }
  });
});

describe("a container's process that cannot start", () => {
  test("says why, to Python and to a command", async () => {
    await using container = bareProcess("/nowhere/bwrap");
    await expect(container.python("1", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
    await expect(container.shell("true", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
  });
});
