import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import {
  isBubblewrapUsable,
  listProcesses,
  openTarget,
} from "../../../../tests/support/attacks/bubblewrap-target.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { findResourceControl } from "../cgroups/find-resource-control.ts";
import { bubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import { reportLimits } from "./report-limits.ts";

const runs = await isBubblewrapUsable();
const LIMITS = { timeoutMs: 4_000, maxOutputBytes: 10_000 };
const startups: number[] = [];
afterAll(() => {
  if (startups.length > 0) process.stderr.write(`bubblewrap: first run after ${startups} ms\n`);
});

describe.skipIf(!runs)("Python in bubblewrap", () => {
  test("keeps its variables between runs and prints the last expression", async () => {
    const began = performance.now();
    const target = await openTarget();
    const first = await target.python("x = 20\nimport math");
    startups.push(Math.round(performance.now() - began));
    expect(first).toEqual({
      stdout: "",
      stderr: "",
      error: null,
      images: [],
      timedOut: false,
      truncated: false,
      died: false,
    });
    expect((await target.python("x += 1\nx * 2")).stdout).toBe("42\n");
    expect((await target.python("_ + 1")).stdout).toBe("43\n");
    expect((await target.python("None")).stdout).toBe("");
    expect((await target.python("")).error).toBeNull();
  });

  test("separates stdout from stderr, including subprocesses, each in order", async () => {
    const target = await openTarget();
    const run = await target.python(
      "import sys, subprocess\nprint('one')\nprint('bad', file=sys.stderr)\n" +
        "subprocess.run('echo two; echo worse >&2', shell=True)\nprint('three')",
    );
    expect(run.stdout).toBe("one\ntwo\nthree\n");
    expect(run.stderr).toBe("bad\nworse\n");
  });

  test("returns the whole output in the order of printing", async () => {
    const target = await openTarget();
    const lines = [
      "import sys",
      ...[1, 2, 3].map((n) => `print(${n})\nprint(-${n}, file=sys.stderr)`),
    ];
    const run = await target.python(`${lines.join("\n")}\nprint('ž')`);
    expect(run).toMatchObject({ stdout: "1\n2\n3\nž\n", stderr: "-1\n-2\n-3\n" });
    expect(run.output).toBe("1\n-1\n2\n-2\n3\n-3\nž\n");
    const mixed = await target.python(
      "import os\nos.system('echo sub; echo bad >&2')\nprint('worse', file=sys.stderr)\nprint('end')",
    );
    expect(mixed.output).toBe("bad\nworse\nsub\nend\n");
    const raised = await target.python("print(1)\nprint(2, file=sys.stderr)\n1/0");
    expect(raised).toMatchObject({ output: "1\n2\n", error: expect.stringMatching(/^Traceback/) });
    expect((await target.python("print(1)")).output).toBeUndefined();
    const many = "for n in range(9999):\n  print('o')\n  print('e', file=sys.stderr)";
    expect((await target.python(many, { maxOutputBytes: 1e6 })).output).toBe(
      `${"o\n".repeat(9999)}${"e\n".repeat(9999)}`,
    );
    const swapped = "for n in range(9999):\n  print('e', file=sys.stderr)\n  print('o')";
    expect((await target.python(swapped, { maxOutputBytes: 1e6 })).output).toMatch(/^e[\s\S]*o\n$/);
  });

  test("returns a traceback with only the code's own frames", async () => {
    const target = await openTarget();
    const run = await target.python("def inner():\n    return 1 / 0\ninner()");
    expect(run.error).toBe(
      [
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 3, in <module>',
        "    inner()",
        '  File "<cell 1>", line 2, in inner',
        "    return 1 / 0",
        "           ~~^~~",
        "ZeroDivisionError: division by zero",
      ]
        .filter((line) => !line.includes("~~^") || (run.error ?? "").includes("~~^"))
        .join("\n"),
    );
    const wrong = await target.python("if :");
    expect(wrong.error).toContain("SyntaxError");
    expect(wrong.error).not.toContain("<string>");
  });

  test("reads and writes any character", async () => {
    const target = await openTarget();
    expect((await target.python("print('ž 漢 🦉')")).stdout).toBe("ž 漢 🦉\n");
    expect((await target.python("print('\\ud800')")).stdout).toBe("\\ud800\n");
    expect((await target.shell("echo 'ž 漢 🦉'")).stdout).toBe("ž 漢 🦉\n");
  });

  test("drops output beyond the limit and sets truncated", async () => {
    const target = await openTarget();
    const run = await target.python("print('é' * 100000)\nprint('after')", { maxOutputBytes: 999 });
    expect(run).toMatchObject({ stdout: "é".repeat(499), truncated: true, error: null });
    const exact = await target.python("print('a' * 99)", { maxOutputBytes: 100 });
    expect(exact).toMatchObject({ truncated: false });
  });

  test("interrupts code after the timeout and keeps its variables", async () => {
    const target = await openTarget();
    await target.python("x = 1");
    const run = await target.python("x = 2\nwhile True: pass", { timeoutMs: 200 });
    expect(run).toMatchObject({ timedOut: true, died: false });
    expect(run.error).toContain("KeyboardInterrupt");
    expect((await target.python("x")).stdout).toBe("2\n");
  });

  test("kills code that continues after the interrupt, and starts a new interpreter", async () => {
    const target = await openTarget();
    const stubborn =
      "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
    const run = await target.python(`print('begun')\n${stubborn}`, { timeoutMs: 200 });
    expect(run).toMatchObject({ stdout: "begun\n", timedOut: true, died: true });
    expect(run.error).toBe(
      "The interpreter was killed: the code kept running when interrupted after 200 ms. Its variables are lost.",
    );
  });

  test("reports a lost interpreter after os._exit, and starts a new one", async () => {
    const target = await openTarget();
    await target.python("x = 1");
    const run = await target.python("import os\nos._exit(7)");
    expect(run).toMatchObject({ died: true, timedOut: false });
    expect(run.error).toBe("The interpreter ended with exit code 7. Its variables are lost.");
    expect((await target.python("x")).error).toContain("NameError");
  });

  test("survives sys.exit, and ignores a fork that returns from the code", async () => {
    const target = await openTarget();
    expect((await target.python("import sys; sys.exit()")).error).toBeNull();
    expect((await target.python("sys.exit(3)")).error).toBe("SystemExit: 3");
    const run = await target.python(
      "import os\nchild = os.fork()\nif child: print(os.waitpid(child, 0)[1])\nelse: print('child')",
    );
    expect(run).toMatchObject({ stdout: "child\n0\n", error: null });
  });

  test("returns images of values and of figures left open", async () => {
    const target = await openTarget({
      root: temporaryTree({
        "matplotlib/__init__.py": "",
        "matplotlib/pyplot.py": FIGURES,
      }),
    });
    const png = "import base64\nPNG = base64.b64decode('iVBORw0KGgo=')\n";
    const value = await target.python(
      `${png}class Picture:\n  def _repr_png_(self): return PNG\nPicture()`,
    );
    expect(value.images).toEqual([{ mediaType: "image/png", base64: "iVBORw0KGgo=" }]);
    expect(value.stdout).toBe("");
    const figure = await target.python("import matplotlib.pyplot as plt\nplt.left_open = [1, 2]");
    expect(figure.images).toHaveLength(2);
    expect((await target.python("plt.left_open")).stdout).toBe("[]\n");
  });

  test("runs calls one after the other, in call order", async () => {
    const target = await openTarget();
    const codes = ["order = [1]", "order.append(2)", "order.append(3)", "order"];
    const answers = await Promise.all(codes.map((code) => target.python(code)));
    expect(answers.at(-1)?.stdout).toBe("[1, 2, 3]\n");
  });

  test("imports modules from its folder without writing compiled files there", async () => {
    const target = await openTarget({ root: temporaryTree({ "mine.py": "answer = 42\n" }) });
    expect((await target.python("import mine, os\nmine.answer, os.listdir()")).stdout).toBe(
      "(42, ['mine.py'])\n",
    );
  });
});

/** Lists the names of the programs that run in a container. */
function listPrograms(root: string): readonly string[] {
  return listProcesses(root).flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/comm`, "utf8").trim()];
    } catch {
      return []; // It ended after it was listed.
    }
  });
}

const FIGURES = `
import base64
left_open = []
def get_fignums(): return list(left_open)
class Figure:
    def savefig(self, file, format): file.write(base64.b64decode("iVBORw0KGgo="))
def figure(number): return Figure()
def close(which): left_open.clear()
`;

describe.skipIf(!runs)("A shell command in bubblewrap", () => {
  test("returns its exit code and both outputs, and runs in its folder", async () => {
    const target = await openTarget({ root: temporaryTree({ "a.txt": "hello" }) });
    const run = await target.shell("pwd; cat a.txt; echo oops >&2; exit 3");
    expect(run).toEqual({
      stdout: "/mnt/data\nhello",
      stderr: "oops\n",
      exitCode: 3,
      timedOut: false,
      truncated: false,
    });
    expect((await target.shell("kill -TERM $$")).exitCode).toBe(143);
    expect((await target.shell("echo seen > /dev/stderr")).stderr).toBe("seen\n");
    expect((await target.shell("a\0b")).exitCode).toBe(126);
  });

  test("is killed with its children after the timeout, and keeps its output", async () => {
    const target = await openTarget();
    const run = await target.shell("echo begun; sleep 50 & sleep 51", { timeoutMs: 1_000 });
    expect(run).toMatchObject({ stdout: "begun\n", exitCode: null, timedOut: true });
    expect(listPrograms(target.root)).not.toContain("sleep");
  });

  test("leaves no background process running", async () => {
    const target = await openTarget();
    expect(await target.shell("sleep 60 & echo gone")).toMatchObject({
      stdout: "gone\n",
      exitCode: 0,
    });
    expect(listPrograms(target.root)).not.toContain("sleep");
  });

  test("runs in parallel with Python on the same files", async () => {
    const target = await openTarget();
    const python = target.python(
      "import os, time\nwhile not os.path.exists('flag'): time.sleep(0.01)\nopen('flag').read()",
    );
    await target.shell("printf up > tmp && mv tmp flag");
    expect((await python).stdout).toBe("'up'\n");
  });
});

describe.skipIf(!runs)("A bubblewrap container", () => {
  test("writes files that the host can read, change and remove, and can change the host's files", async () => {
    const target = await openTarget({ root: temporaryTree({ "given/deep.txt": "1" }) });
    await target.python("open('made.txt', 'w').write('made')");
    expect(readFileSync(`${target.root}/made.txt`, "utf8")).toBe("made");
    expect(statSync(`${target.root}/made.txt`).mode & 0o777).toBe(0o644);
    writeFileSync(`${target.root}/later.txt`, "2", { mode: 0o600 });
    const run = await target.shell(
      "echo more >> later.txt; echo more >> given/deep.txt; cat later.txt",
    );
    expect(run).toMatchObject({ stdout: "2more\n", stderr: "" });
    writeFileSync(`${target.root}/made.txt`, "changed");
    expect((await target.python("open('made.txt').read()")).stdout).toBe("'changed'\n");
  });

  test("rejects with the signal's reason when aborted, and stops the code", async () => {
    const target = await openTarget();
    await target.python("kept = 1");
    for (const run of [
      (signal: AbortSignal) => target.python("while True: pass", { signal }),
      (signal: AbortSignal) => target.shell("while true; do :; done", { signal }),
    ]) {
      const reason = new Error("enough");
      const stop = new AbortController();
      const running = run(stop.signal);
      setTimeout(() => stop.abort(reason), 100);
      await expect(running).rejects.toBe(reason);
      await expect(run(stop.signal)).rejects.toBe(reason);
    }
    expect((await target.python("kept")).stdout).toBe("1\n");
  });

  test("is isolated from other containers", async () => {
    const targets = await Promise.all([1, 2, 3, 4].map(() => openTarget()));
    const runsOfAll = await Promise.all(
      targets.map(async (target, index) => {
        await target.python(`mine = ${index}\nopen('mine', 'w').write('${index}')`);
        return (await target.python("import os\n(mine, open('mine').read(), os.listdir())")).stdout;
      }),
    );
    expect(runsOfAll).toEqual([0, 1, 2, 3].map((index) => `(${index}, '${index}', ['mine'])\n`));
  });

  test("ends all its processes when disposed of", async () => {
    const root = temporaryTree();
    const container = await bubblewrapSandbox().open({ root, memoryBytes: 300 * 1024 ** 2 });
    const python = container.python("open('up', 'w').close()\nwhile True: pass", LIMITS);
    const shell = container.shell("sleep 60", LIMITS);
    await expect.poll(() => existsSync(`${root}/up`)).toBe(true);
    await expect.poll(() => listProcesses(root).length).toBeGreaterThan(3);
    await container[Symbol.asyncDispose]();
    expect(listProcesses(root)).toEqual([]);
    expect((await python).died).toBe(true);
    expect((await shell).exitCode).toBe(137);
    await expect(container.python("1", LIMITS)).rejects.toThrow("was disposed of");
  });
});

describe("A bubblewrap container whose opening is canceled", () => {
  test("rejects and starts no process", async () => {
    const root = temporaryTree();
    const stop = new AbortController();
    const options = { root, memoryBytes: 300 * 1024 ** 2, signal: stop.signal };
    const opening = bubblewrapSandbox().open(options);
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await expect(bubblewrapSandbox().open(options)).rejects.toBe(reason);
    expect(listProcesses(root)).toEqual([]);
  });

  test.skipIf(!runs)("ignores the signal once it is open", async () => {
    const stop = new AbortController();
    const target = await openTarget({ signal: stop.signal });
    stop.abort();
    expect((await target.python("6 * 7")).stdout).toBe("42\n");
  });
});

describe("The probe of bubblewrap", () => {
  test.skipIf(!runs)("succeeds after a trial run", async () => {
    expect(await bubblewrapSandbox().probe()).toEqual({
      usable: true,
      reason: "a trial run succeeded",
      limits: reportLimits(await findResourceControl(), false),
    });
  });

  test("names the package to install", async () => {
    const missing = bubblewrapSandbox({ bubblewrap: "/nowhere/bwrap", python: "/bin/sh" });
    expect(await missing.probe()).toEqual({
      usable: false,
      reason: "bwrap is not installed: apt-get install bubblewrap",
    });
    expect(await bubblewrapSandbox({ python: "/nowhere/python3" }).probe()).toEqual({
      usable: false,
      reason: "/nowhere/python3 is missing: apt-get install python3",
    });
  });

  test("reports which permission is missing, or the error", async () => {
    const folder = temporaryTree({
      refused: "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n",
      broken: "#!/bin/sh\necho 'bwrap: Unknown option --perms' >&2; exit 1\n",
      silent: "#!/bin/sh\nexit 1\n",
      forged: FORGED_BWRAP,
    });
    const reasons: string[] = [];
    for (const name of ["refused", "broken", "silent", "forged"]) {
      chmodSync(`${folder}/${name}`, 0o755);
      const { usable, reason } = await bubblewrapSandbox({
        bubblewrap: `${folder}/${name}`,
      }).probe();
      expect(usable).toBe(false);
      reasons.push(reason);
    }
    expect(reasons[0]).toContain("kernel.unprivileged_userns_clone=1");
    expect(reasons[1]).toBe("The sandbox did not start: bwrap: Unknown option --perms");
    expect(reasons[2]).toBe("The sandbox did not start: it exited without a message");
    expect(reasons[3]).toBe("a trial run failed: oops");
  });

  test("reports that it needs Linux", async () => {
    const { platform } = process;
    onTestFinished(() => {
      Object.defineProperty(process, "platform", { value: platform });
    });
    Object.defineProperty(process, "platform", { value: "darwin" });
    expect(await bubblewrapSandbox().probe()).toEqual({
      usable: false,
      reason: "bubblewrap needs Linux",
    });
  });
});

/** Responds like the supervisor, with a failed run. */
const FORGED_BWRAP = `#!/usr/bin/python3
import os, struct
os.write(1, b"r" + struct.pack(">II", 0, 0))
os.read(0, 65536)
os.write(1, b"e" + struct.pack(">II", 0, 4) + b"oops")
os.write(1, b"d" + struct.pack(">II", 0, 29) + b'{"error": null, "images": []}')
os.read(0, 65536)
`;
