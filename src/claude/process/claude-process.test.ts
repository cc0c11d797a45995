import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ClaudeProcess, type ClaudeProcessOptions } from "./claude-process.ts";
import { type ListedProcess, processesOfRun } from "./run-processes.ts";

const env = { PATH: process.env["PATH"] };

/** A shell in the place of the SDK's binary, which is stopped when the test is over. */
function shell(script: string, options: ClaudeProcessOptions = {}) {
  const claude = new ClaudeProcess(options);
  onTestFinished(() => claude.stop());
  const child = claude.spawn({ command: "/bin/sh", args: ["-c", script], env });
  return { claude, child };
}

/** Until it has said that it is ready. */
async function ready({ child }: ReturnType<typeof shell>): Promise<void> {
  for await (const said of child.stdout ?? []) if (String(said).includes("ready")) return;
}

const streamOf = (stream: Readable | null) => stream ?? Readable.from([]);

const living = (claude: ClaudeProcess, known: readonly ListedProcess[] = []) =>
  processesOfRun({ runId: claude.runId, root: claude.pid ?? 0 }, known);

describe("the SDK's process", () => {
  test("is spoken to as the SDK would, in a group of its own, under the run's name", async () => {
    const { claude, child } = shell('read line; echo "$line $WINK_RUN $$"; exit 3');
    expect(claude.pid).toBe(child.pid);
    child.stdin?.end("hello\n");
    expect(await text(streamOf(child.stdout))).toBe(`hello ${claude.runId} ${claude.pid}\n`);
    expect(await claude.ended).toEqual({ code: 3, signal: null });
  });

  test("is waited for until it has ended, or for as long as was said", async () => {
    const { claude } = shell("exit 0");
    await claude.endedWithin(60_000);
    expect(await claude.ended).toEqual({ code: 0, signal: null });
    const hung = shell("echo ready; sleep 600");
    await ready(hung);
    await hung.claude.endedWithin(1);
    expect(hung.child.exitCode).toBeNull();
  });

  test("leads its group", async () => {
    const started = shell("echo ready; sleep 600");
    await ready(started);
    const found = await living(started.claude);
    expect(found.find(({ pid }) => pid === started.claude.pid)?.group).toBe(started.claude.pid);
  });

  test("gets its key by a pipe and in no variable", async () => {
    const { child } = shell('printf "%s|" "$(cat <&3)"; env', { handed: "sk-secret" });
    const [handed, variables] = (await text(streamOf(child.stdout))).split("|");
    expect(handed).toBe("sk-secret");
    expect(variables).not.toContain("sk-secret");
  });

  test("may end before it has read anything", async () => {
    const { claude, child } = shell("exec 0<&- 3<&-; exit 0", { handed: "x".repeat(1_000_000) });
    child.stdin?.write("x".repeat(1_000_000));
    expect(await claude.ended).toEqual({ code: 0, signal: null });
    await pause(20); // what it did not read comes back as errors of the pipes
  });

  test("leaves its last words, without secrets", async () => {
    const script = 'seq 1 5000 >&2; echo "key sk-secret is bad" >&2; exit 1';
    const { claude, child } = shell(script, { secrets: ["sk-secret", ""] });
    await text(streamOf(child.stderr)).catch(() => "");
    await claude.ended;
    expect(claude.complaint).toMatch(/\n4999\n5000\nkey … is bad$/);
    expect(claude.complaint.length).toBeLessThanOrEqual(4_096);
  });

  test("that is not there says so", async () => {
    const claude = new ClaudeProcess();
    const child = claude.spawn({ command: "/no/such/claude", args: [], env });
    const failed = new Promise((resolve) => child.once("error", resolve));
    expect(await claude.ended).toEqual({ code: null, signal: null });
    expect(await failed).toMatchObject({ code: "ENOENT" });
    expect(claude.complaint).toContain("ENOENT");
    expect(claude.pid).toBeNull();
    await claude.stop();
  });

  test("is started once", async () => {
    const { claude } = shell("exit 0");
    const again = { command: "/bin/sh", args: [], env };
    expect(() => claude.spawn(again)).toThrow("started once: make a new run");
  });
});

describe("stopping it", () => {
  test("lets it end in good order", async () => {
    const script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done";
    const started = shell(script, { graceMs: 60_000 });
    await ready(started);
    await started.claude.stop();
    expect(await started.claude.ended).toEqual({ code: 7, signal: null });
  });

  test("ends one that will not, and every other of the run", async () => {
    const started = shell(
      `trap '' TERM
       (setsid sleep 600 &)
       (setsid sh -c 'trap "" TERM HUP; sleep 600; sleep 600' &)
       nohup sleep 600 >/dev/null 2>&1 &
       env -i /bin/sh -c 'sleep 600; true' &
       echo ready
       while :; do sleep 600; done`,
    );
    await ready(started);
    await expect.poll(async () => (await living(started.claude)).length).toBe(8);
    const before = await living(started.claude);
    await started.claude.stop();
    expect(await started.claude.ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(await living(started.claude, before)).toEqual([]);
  });

  test("ends what a process left behind that has ended by itself", async () => {
    const started = shell("setsid sleep 600 >/dev/null 2>&1 & exit 0");
    await started.claude.ended;
    await expect.poll(async () => (await living(started.claude)).length).toBe(1);
    await started.claude.stop();
    expect(await living(started.claude)).toEqual([]);
  });

  test("can be done any number of times", async () => {
    const { claude } = shell("sleep 600");
    const first = claude.stop();
    expect(claude.stop()).toBe(first);
    await first;
    await claude.stop();
  });

  test("before it was started keeps it from being started", async () => {
    const claude = new ClaudeProcess();
    await claude.stop();
    expect(await claude.ended).toEqual({ code: null, signal: null });
    expect(() => claude.spawn({ command: "/bin/sh", args: [], env })).toThrow("started once");
  });

  test("is what the SDK's signal does", async () => {
    const claude = new ClaudeProcess();
    const given = new AbortController();
    const args = ["-c", "sleep 600"];
    claude.spawn({ command: "/bin/sh", args, env, signal: given.signal });
    given.abort();
    expect(await claude.ended).toEqual({ code: null, signal: "SIGTERM" });
    await claude.stop();
  });
});

test.runIf(existsSync("/usr/bin/setpriv"))(
  "the SDK's process is told to end when this one is killed",
  async () => {
    const folder = temporaryTree();
    const script = `trap 'echo told > ${folder}/told; exit' TERM; echo ready; while :; do sleep 0.02; done`;
    const code = `
      const { ClaudeProcess } = await import(${JSON.stringify(new URL("./claude-process.ts", import.meta.url).href)});
      const env = { PATH: process.env.PATH };
      const child = new ClaudeProcess().spawn({ command: "/bin/sh", args: ["-c", ${JSON.stringify(script)}], env });
      child.stdout.once("data", () => process.kill(process.pid, "SIGKILL"));
    `;
    const killed = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
    await expect(killed).rejects.toMatchObject({ signal: "SIGKILL" });
    const told = () => existsSync(`${folder}/told`) && readFileSync(`${folder}/told`, "utf8");
    await expect.poll(told).toBe("told\n"); // the file is there before its text
  },
);
