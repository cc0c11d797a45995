import { chmodSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  isBubblewrapUsable,
  listProcesses,
} from "../../../../tests/support/attacks/bubblewrap-target.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { systemClock } from "../../../base/clock.ts";
import { toContainerLimits } from "../container-limits.ts";
import { SANDBOX_PROGRAM } from "../kernel/sandbox-program.ts";
import { SupervisedProcess } from "../supervised/supervised-process.ts";
import { bubblewrapLauncher } from "./bubblewrap-launcher.ts";

const RUN = { timeoutMs: 4_000, maxOutputBytes: 1_000 };

function createBareProcess(
  bubblewrap: string,
  root = temporaryTree({ "a.txt": "a" }),
): SupervisedProcess {
  const limits = toContainerLimits({ root, memoryBytes: 300 * 1024 ** 2 });
  const launcher = bubblewrapLauncher({
    bubblewrap,
    python: "/usr/bin/python3",
    root,
    identity: { kind: "namespace" },
    limits,
    program: SANDBOX_PROGRAM,
    seccomp: null,
    group: null,
  });
  const enforced = { memory: false, processes: false, disk: false };
  const settings = { launcher, root, limits, enforced, owner: null };
  return new SupervisedProcess(settings, { clock: systemClock, graceMs: 500 });
}

describe.skipIf(!(await isBubblewrapUsable()))("A bubblewrap process", () => {
  test("runs without a seccomp filter and without a separate user, if neither is available", async () => {
    await using container = createBareProcess("bwrap");
    expect((await container.python("open('a.txt').read()", RUN)).stdout).toBe("'a'\n");
    expect((await container.shell("id -u; cat a.txt", RUN)).stdout).toBe("1000\na");
  });

  test("starts again if it is killed twice while it starts", async () => {
    const script =
      '#!/bin/sh\necho >> "$0.starts"\n[ $(wc -l < "$0.starts") -gt 2 ] || kill -9 $$\nexec bwrap "$@"\n';
    const folder = temporaryTree({ killed: script });
    chmodSync(`${folder}/killed`, 0o755);
    await using container = createBareProcess(`${folder}/killed`);
    expect((await container.python("6 * 7", RUN)).stdout).toBe("42\n");
    expect(readFileSync(`${folder}/killed.starts`, "utf8")).toBe("\n\n\n");
  });

  test("does not start again if it is disposed of while it starts", async () => {
    // Dispose at a different moment each time.
    for (let wait = 0; wait < 30; wait++) {
      const root = temporaryTree();
      const container = createBareProcess("bwrap", root);
      const run = container.python("1", RUN).catch(String);
      await new Promise((resolve) => setTimeout(resolve, wait));
      await container[Symbol.asyncDispose]();
      const outcome = await run;
      if (typeof outcome === "string") expect(outcome).toContain("process was disposed of");
      else expect(outcome.stdout === "1\n" || outcome.died).toBe(true);
      expect(listProcesses(root)).toEqual([]);
    }
  });
});

describe("A bubblewrap process that cannot start", () => {
  test("reports the reason to Python and to a command", async () => {
    await using container = createBareProcess("/nowhere/bwrap");
    await expect(container.python("1", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
    await expect(container.shell("true", RUN)).rejects.toThrow(/did not start: .*ENOENT/);
  });
});
