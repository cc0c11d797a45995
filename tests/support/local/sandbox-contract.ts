import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listProcesses, openTarget, type TargetOptions } from "../attacks/bubblewrap-target.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** Declares the tests that every sandbox with CPython and a shell must pass. */
export function testSandboxContract(options: TargetOptions = {}): void {
  testOutput(options);
  testStopping(options);
  testContainer(options);
}

function testOutput(options: TargetOptions): void {
  test("keeps Python's variables between runs and prints the last expression", async () => {
    const target = await openTarget(options);
    expect(await target.python("x = 20\nimport math")).toMatchObject({ stdout: "", error: null });
    expect((await target.python("x += 1\nx * 2")).stdout).toBe("42\n");
  });

  test("separates both outputs, in the order of printing", async () => {
    const target = await openTarget(options);
    const run = await target.python(
      "import sys, subprocess\nprint('one')\nprint('bad', file=sys.stderr)\n_ = subprocess.run('echo two', shell=True)",
    );
    expect(run).toMatchObject({ stdout: "one\ntwo\n", stderr: "bad\n" });
    const command = await target.shell("pwd; echo worse >&2; exit 3");
    expect(command).toMatchObject({ stdout: "/mnt/data\n", stderr: "worse\n", exitCode: 3 });
  });

  test("returns a traceback, and any character as it is", async () => {
    const target = await openTarget(options);
    expect((await target.python("def f(): return 1 / 0\nf()")).error).toMatch(
      /^Traceback.*<cell 1>.*ZeroDivisionError: division by zero$/s,
    );
    expect((await target.python("print('ž 🦊')")).stdout).toBe("ž 🦊\n");
    expect((await target.shell("printf 'ž 🦊'")).stdout).toBe("ž 🦊");
  });

  test("drops output beyond the limit", async () => {
    const target = await openTarget(options);
    const run = await target.python("print('x' * 100000)");
    expect(run).toMatchObject({ truncated: true, error: null });
    expect(run.stdout.length).toBe(20_000);
  });
}

function testStopping(options: TargetOptions): void {
  test("interrupts code after the timeout, keeps its variables, and kills code that continues", async () => {
    const target = await openTarget(options);
    await target.python("kept = 1");
    const slow = await target.python("while True: pass", { timeoutMs: 300 });
    expect(slow).toMatchObject({ timedOut: true, died: false });
    expect((await target.python("kept")).stdout).toBe("1\n");
    const stubborn =
      "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    expect(await target.python(stubborn, { timeoutMs: 300 })).toMatchObject({ died: true });
    expect((await target.python("'kept' in globals()")).stdout).toBe("False\n");
  });

  test("kills a command with everything it started after the timeout", async () => {
    const target = await openTarget(options);
    const run = await target.shell("echo begun; sleep 50 & setsid sleep 52 & sleep 51", {
      timeoutMs: 400,
    });
    expect(run).toMatchObject({ stdout: "begun\n", exitCode: null, timedOut: true });
    expect((await target.shell("ps -e | grep -c slee[p]")).stdout).toBe("0\n");
  });
}

function testContainer(options: TargetOptions): void {
  test("shares files between Python, commands and the host, in both directions", async () => {
    const target = await openTarget({ ...options, root: temporaryTree({ "given/deep.txt": "1" }) });
    await target.python("open('made.txt', 'w').write('made')");
    expect(readFileSync(`${target.root}/made.txt`, "utf8")).toBe("made");
    expect(statSync(`${target.root}/made.txt`).mode & 0o777).toBe(0o644);
    writeFileSync(`${target.root}/later.txt`, "2", { mode: 0o600 });
    const run = await target.shell("echo 3 >> later.txt; echo 4 >> given/deep.txt; cat later.txt");
    expect(run).toMatchObject({ stdout: "23\n", stderr: "" });
    expect((await target.python("open('later.txt').read()")).stdout).toBe("'23\\n'\n");
  });

  test("stops the code when a run is aborted, and continues afterwards", async () => {
    const target = await openTarget(options);
    const reason = new Error("enough");
    for (const run of [
      (signal: AbortSignal) => target.python("while True: pass", { signal }),
      (signal: AbortSignal) => target.shell("while true; do :; done", { signal }),
    ]) {
      const stop = new AbortController();
      const running = run(stop.signal);
      setTimeout(() => stop.abort(reason), 200);
      await expect(running).rejects.toBe(reason);
    }
    expect((await target.python("6 * 7")).stdout).toBe("42\n");
  });

  test("runs commands while Python runs", async () => {
    const target = await openTarget(options);
    const code = "import os, time\nwhile not os.path.exists('flag'): time.sleep(0.01)\n'seen'";
    const python = target.python(code);
    await target.shell("touch flag");
    expect((await python).stdout).toBe("'seen'\n");
  });

  test("leaves nothing running when it is disposed of", async () => {
    const { root } = await openTarget(options);
    const { sandbox } = options;
    if (sandbox === undefined) return; // openTarget checks the rest
    const container = await sandbox.create().open({ root, memoryBytes: 300 * 1024 ** 2 });
    const limits = { timeoutMs: 10_000, maxOutputBytes: 1_000 };
    const running = container.python("open('up', 'w').close()\nwhile True: pass", limits);
    await expect.poll(() => existsSync(`${root}/up`), { timeout: 10_000 }).toBe(true);
    await container[Symbol.asyncDispose]();
    expect((await running).died).toBe(true);
    expect(listProcesses(root)).toEqual([]);
    await expect(container.python("1", limits)).rejects.toThrow("was disposed of");
  });
}
