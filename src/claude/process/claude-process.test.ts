import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ClaudeProcess, type ClaudeProcessOptions } from "./claude-process.ts";
import { type ListedProcess, listRunProcesses } from "./list-run-processes.ts";

const env = { PATH: process.env["PATH"] };

/** Starts a shell script instead of the SDK's binary, and stops it when the test ends. */
function startShell(script: string, options: ClaudeProcessOptions = {}) {
  const claude = new ClaudeProcess(options);
  onTestFinished(() => claude.stop());
  const child = claude.spawn({ command: "/bin/sh", args: ["-c", script], env });
  return { claude, child };
}

/** Waits until the script prints "ready". */
async function waitUntilReady({ child }: ReturnType<typeof startShell>): Promise<void> {
  for await (const chunk of child.stdout ?? []) if (String(chunk).includes("ready")) return;
}

const orEmptyStream = (stream: Readable | null) => stream ?? Readable.from([]);

const listRunning = (claude: ClaudeProcess, known: readonly ListedProcess[] = []) =>
  listRunProcesses({ runId: claude.runId, root: claude.pid ?? 0 }, known);

describe("ClaudeProcess", () => {
  test("starts a process with pipes, a process group and the run's id", async () => {
    const { claude, child } = startShell('read line; echo "$line $WINK_RUN $$"; exit 3');
    expect(claude.pid).toBe(child.pid);
    child.stdin?.end("hello\n");
    expect(await text(orEmptyStream(child.stdout))).toBe(`hello ${claude.runId} ${claude.pid}\n`);
    expect(await claude.ended).toEqual({ code: 3, signal: null });
  });

  test("waitForEnd() waits until the process ends or the time is up", async () => {
    const { claude } = startShell("exit 0");
    await claude.waitForEnd(60_000);
    expect(await claude.ended).toEqual({ code: 0, signal: null });
    const hung = startShell("echo ready; sleep 600");
    await waitUntilReady(hung);
    await hung.claude.waitForEnd(1);
    expect(hung.child.exitCode).toBeNull();
  });

  test("makes the process the leader of its group", async () => {
    const started = startShell("echo ready; sleep 600");
    await waitUntilReady(started);
    const found = await listRunning(started.claude);
    expect(found.find(({ pid }) => pid === started.claude.pid)?.group).toBe(started.claude.pid);
  });

  test("passes the key through a pipe and not in a variable", async () => {
    const { child } = startShell('printf "%s|" "$(cat <&3)"; env', { pipedSecret: "sk-secret" });
    const [secret, variables] = (await text(orEmptyStream(child.stdout))).split("|");
    expect(secret).toBe("sk-secret");
    expect(variables).not.toContain("sk-secret");
  });

  test("allows the process to end before it reads its pipes", async () => {
    const { claude, child } = startShell("exec 0<&- 3<&-; exit 0", {
      pipedSecret: "x".repeat(1_000_000),
    });
    child.stdin?.write("x".repeat(1_000_000));
    expect(await claude.ended).toEqual({ code: 0, signal: null });
    await pause(20); // unread input causes errors on the pipes
  });

  test("keeps the end of stderr, with secrets redacted", async () => {
    const script = 'seq 1 5000 >&2; echo "key sk-secret is bad" >&2; exit 1';
    const { claude, child } = startShell(script, { secrets: ["sk-secret", ""] });
    await text(orEmptyStream(child.stderr)).catch(() => "");
    await claude.ended;
    expect(claude.stderrTail).toMatch(/\n4999\n5000\nkey … is bad$/);
    expect(claude.stderrTail.length).toBeLessThanOrEqual(4_096);
  });

  test("reports a missing program", async () => {
    const claude = new ClaudeProcess();
    const child = claude.spawn({ command: "/no/such/claude", args: [], env });
    const failed = new Promise((resolve) => child.once("error", resolve));
    expect(await claude.ended).toEqual({ code: null, signal: null });
    expect(await failed).toMatchObject({ code: "ENOENT" });
    expect(claude.stderrTail).toContain("ENOENT");
    expect(claude.pid).toBeNull();
    await claude.stop();
  });

  test("can be started only once", async () => {
    const { claude } = startShell("exit 0");
    const again = { command: "/bin/sh", args: [], env };
    expect(() => claude.spawn(again)).toThrow(
      "The SDK's process can be started only once. Create a new run.",
    );
  });
});

describe("ClaudeProcess.stop()", () => {
  test("lets the process handle SIGTERM", async () => {
    const script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done";
    const started = startShell(script, { graceMs: 60_000 });
    await waitUntilReady(started);
    await started.claude.stop();
    expect(await started.claude.ended).toEqual({ code: 7, signal: null });
  });

  test("kills a process that ignores SIGTERM, and all other processes of the run", async () => {
    const started = startShell(
      `trap '' TERM
       (setsid sleep 600 &)
       (setsid sh -c 'trap "" TERM HUP; sleep 600; sleep 600' &)
       nohup sleep 600 >/dev/null 2>&1 &
       env -i /bin/sh -c 'sleep 600; true' &
       echo ready
       while :; do sleep 600; done`,
    );
    await waitUntilReady(started);
    await expect.poll(async () => (await listRunning(started.claude)).length).toBe(8);
    const before = await listRunning(started.claude);
    await started.claude.stop();
    expect(await started.claude.ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(await listRunning(started.claude, before)).toEqual([]);
  });

  test("kills processes that remain after the SDK's process has ended", async () => {
    const started = startShell("setsid sleep 600 >/dev/null 2>&1 & exit 0");
    await started.claude.ended;
    await expect.poll(async () => (await listRunning(started.claude)).length).toBe(1);
    await started.claude.stop();
    expect(await listRunning(started.claude)).toEqual([]);
  });

  test("can be called repeatedly", async () => {
    const { claude } = startShell("sleep 600");
    const first = claude.stop();
    expect(claude.stop()).toBe(first);
    await first;
    await claude.stop();
  });

  test("prevents a later start", async () => {
    const claude = new ClaudeProcess();
    await claude.stop();
    expect(await claude.ended).toEqual({ code: null, signal: null });
    expect(() => claude.spawn({ command: "/bin/sh", args: [], env })).toThrow(
      "can be started only once",
    );
  });

  test("runs when the SDK's signal aborts", async () => {
    const claude = new ClaudeProcess();
    const controller = new AbortController();
    const args = ["-c", "sleep 600"];
    claude.spawn({ command: "/bin/sh", args, env, signal: controller.signal });
    controller.abort();
    expect(await claude.ended).toEqual({ code: null, signal: "SIGTERM" });
    await claude.stop();
  });
});

test.runIf(existsSync("/usr/bin/setpriv"))(
  "ClaudeProcess gets SIGTERM when this process is killed",
  async () => {
    const folder = temporaryTree();
    const script = `trap 'echo ended > ${folder}/ended; exit' TERM; echo ready; while :; do sleep 0.02; done`;
    const code = `
      const { ClaudeProcess } = await import(${JSON.stringify(new URL("./claude-process.ts", import.meta.url).href)});
      const env = { PATH: process.env.PATH };
      const child = new ClaudeProcess().spawn({ command: "/bin/sh", args: ["-c", ${JSON.stringify(script)}], env });
      child.stdout.once("data", () => process.kill(process.pid, "SIGKILL"));
    `;
    const killed = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
    await expect(killed).rejects.toMatchObject({ signal: "SIGKILL" });
    const readEnded = () =>
      existsSync(`${folder}/ended`) && readFileSync(`${folder}/ended`, "utf8");
    await expect.poll(readEnded).toBe("ended\n"); // the file exists before its text is written
  },
);
