import { describe, expect, test } from "vitest";
import { bubblewrapRuns } from "../../../tests/attacks/bubblewrap-stage.ts";
import { temporaryTree } from "../../../tests/temporary-tree.ts";
import { systemClock } from "../../base/clock.ts";
import { BubblewrapProcess } from "./bubblewrap-process.ts";
import { containerLimits } from "./limits.ts";

const RUN = { timeoutMs: 4_000, maxOutputBytes: 1_000 };

function bareProcess(bubblewrap: string): BubblewrapProcess {
  const root = temporaryTree({ "a.txt": "a" });
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
    const container = bareProcess("bwrap");
    const run = container.python("1", RUN);
    // Asked for, not yet there: one turn of the queue.
    await Promise.resolve();
    await Promise.resolve();
    await container[Symbol.asyncDispose]();
    await expect(run).rejects.toThrow("the container's process was disposed of");
  });
});

describe("a container's process that cannot start", () => {
  test("says why, to Python and to a command", async () => {
    await using container = bareProcess("/nowhere/bwrap");
    await expect(container.python("1", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
    await expect(container.shell("true", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
  });
});
