import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { type StopSignal, stopOn } from "./stop-on.ts";

const main = fileURLToPath(new URL("../../tests/support/fleet/stop-on-main.ts", import.meta.url));

/** Starts a process that prints the signal it receives. Resolves when it listens. */
async function startProcess(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await expect.poll(() => printed, { timeout: 30_000 }).toContain("ready\n");
  return { child, read: () => printed };
}

describe("stopOn()", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "aborts on the first %s, and the next signal ends the process",
    async (name) => {
      const { child, read } = await startProcess();
      child.kill(name);
      await expect.poll(read).toContain(`The process received ${name}.`);
      expect(child.exitCode).toBe(null);
      const exited = once(child, "exit");
      // Signals within 100 ms count as one.
      await expect
        .poll(() => {
          child.kill("SIGINT");
          return child.signalCode;
        })
        .toBe("SIGINT");
      expect(await exited).toEqual([null, "SIGINT"]);
      expect(read().match(/received/g)).toHaveLength(1);
    },
  );

  test("takes signals that arrive together for one", async () => {
    const { child, read } = await startProcess();
    child.kill("SIGINT");
    child.kill("SIGTERM");
    await expect.poll(read).toContain("The process received SIG");
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  });

  test("does not keep the process alive", async () => {
    const { child } = await startProcess("idle");
    await expect.poll(() => child.exitCode, { timeout: 30_000 }).toBe(0);
  });

  test("listens once for a signal that is named twice", () => {
    const before = process.listenerCount("SIGUSR2");
    const signal = stopOn("SIGUSR2", "SIGUSR2");
    expect(process.listenerCount("SIGUSR2")).toBe(before + 1);
    process.emit("SIGUSR2", "SIGUSR2");
    expect(signal.reason).toMatchObject({ name: "WinkError" });
  });

  test("keeps its reason if the signal arrives twice at once, and then stops listening", async () => {
    const before = process.listenerCount("SIGUSR2");
    const signal = stopOn("SIGUSR2");
    process.emit("SIGUSR2", "SIGUSR2");
    const { reason } = signal;
    process.emit("SIGUSR2", "SIGUSR2");
    expect(signal.reason).toBe(reason);
    await expect.poll(() => process.listenerCount("SIGUSR2")).toBeLessThanOrEqual(before);
  });

  test.each([[], ["SIGKILL"], ["SIGTERM", "sigint"], [15]])(
    "refuses the signals %j",
    (...names) => {
      const before = process.listenerCount("SIGTERM");
      expect(() => stopOn(...(names as StopSignal[]))).toThrow(InvalidOptionError);
      expect(() => stopOn(...(names as StopSignal[]))).toThrow(
        /stopOn\(signals\) must be names of signals: "SIGTERM", .*Use stopOn\("SIGTERM", "SIGINT"\)/,
      );
      expect(process.listenerCount("SIGTERM")).toBe(before);
    },
  );
});
