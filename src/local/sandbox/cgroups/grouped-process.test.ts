import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { toContainerLimits } from "../container-limits.ts";
import type { PythonRun, SandboxProcess, ShellRun } from "../sandbox.ts";
import { GroupedProcess } from "./grouped-process.ts";
import type { ResourceGroup } from "./resource-control.ts";

const RUN = { timeoutMs: 1_000, maxOutputBytes: 1_000 };
const EXPLANATION = "Stopped: the container may use at most 1000 bytes of memory.";
const PYTHON: PythonRun = {
  ...{ stdout: "", stderr: "", error: null, images: [] },
  ...{ timedOut: false, truncated: false, died: false },
};
const SHELL: ShellRun = { stdout: "", stderr: "", exitCode: 0, timedOut: false, truncated: false };

function createProcess(runs: { python?: Partial<PythonRun>; shell?: Partial<ShellRun> } = {}) {
  const clock = fakeClock();
  const calls: string[] = [];
  const call = (name: string) => () => void calls.push(name);
  const state = { kills: 0 };
  const group: ResourceGroup = {
    wrap: (command) => ({ command, environment: {} }),
    onStart: call("onStart"),
    freeze: call("freeze"),
    thaw: call("thaw"),
    countMemoryKills: () => state.kills,
    kill: call("kill"),
    remove: async () => call("remove")(),
  };
  const inner: SandboxProcess = {
    python: async (code) => {
      if (code === "slow") await sleep(10);
      return { ...PYTHON, ...runs.python };
    },
    shell: async () => {
      await clock.sleep(10);
      if (runs.shell === undefined) throw new Error("aborted");
      return { ...SHELL, ...runs.shell };
    },
    [Symbol.asyncDispose]: async () => call("dispose")(),
  };
  const limits = toContainerLimits({ root: "/", memoryBytes: 1_000 });
  const container = new GroupedProcess(inner, group, { clock, limits });
  return { clock, calls, state, container };
}

describe("A container in a group", () => {
  test("is frozen 50 ms after its last run and continues for the next one", async () => {
    const { calls, clock, container } = createProcess();
    await container.python("1", RUN);
    await clock.advance(40);
    await container.python("1", RUN);
    await clock.advance(49);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(["freeze"]);
    await container.python("1", RUN);
    expect(calls).toEqual(["freeze", "thaw"]);
    await clock.advance(50);
    expect(calls).toEqual(["freeze", "thaw", "freeze"]);
  });

  test("is not frozen while another run is in progress", async () => {
    const { calls, clock, container } = createProcess({ shell: {} });
    const run = container.shell("sleep", RUN);
    await container.python("1", RUN);
    await clock.advance(5);
    const second = container.shell("sleep", RUN);
    await clock.advance(5);
    await run;
    await clock.advance(5);
    await second;
    expect(calls).toEqual([]);
    await clock.advance(50);
    expect(calls).toEqual(["freeze"]);
  });

  test("gets three seconds to stop after a run that was aborted", async () => {
    const { calls, clock, container } = createProcess();
    const run = expect(container.shell("sleep", RUN)).rejects.toThrow("aborted");
    await clock.advance(10);
    await run;
    await clock.advance(2_999);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(["freeze"]);
  });

  test("is killed while frozen, and its group removed after its process", async () => {
    const { calls, clock, container } = createProcess();
    await container.python("1", RUN);
    await clock.advance(50);
    await container.python("1", RUN);
    await container[Symbol.asyncDispose]();
    await clock.advance(100);
    expect(calls).toEqual(["freeze", "thaw", "kill", "dispose", "remove"]);
  });
});

describe("A container whose memory was used up", () => {
  test("reports the limit when the interpreter died", async () => {
    const { container, state } = createProcess({ python: { died: true, error: "signal 9" } });
    state.kills = 1;
    const run = await container.python("1", RUN);
    expect(run.error).toBe(`${EXPLANATION} Its variables are lost.`);
    expect((await container.python("1", RUN)).error).toBe("signal 9"); // not killed again
  });

  test("reports the limit when only another process was killed", async () => {
    const { container, state } = createProcess({ python: { stderr: "a", output: "b\na\n" } });
    state.kills = 1;
    const run = await container.python("slow", RUN);
    expect(run).toMatchObject({
      stderr: `a\n${EXPLANATION}`,
      output: `b\na\n${EXPLANATION}`,
      error: null,
    });
    state.kills = 2;
    const plain = createProcess();
    plain.state.kills = 1;
    const other = await plain.container.python("slow", RUN);
    expect(other).toMatchObject({ stderr: EXPLANATION });
    expect(other).not.toHaveProperty("output");
  });

  test("reports the limit once after a shell command", async () => {
    const reported = createProcess({ shell: { stderr: `Killed\n${EXPLANATION}` } });
    const unreported = createProcess({ shell: { stderr: "Killed\n" } });
    for (const { clock, container, state } of [reported, unreported]) {
      state.kills = 1;
      const run = container.shell("x", RUN);
      await clock.advance(10);
      expect((await run).stderr).toBe(`Killed\n${EXPLANATION}`);
    }
  });
});
