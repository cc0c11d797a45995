import { describe, expect, test } from "vitest";
import {
  isBubblewrapUsable,
  openTarget,
} from "../../../../tests/support/attacks/bubblewrap-target.ts";

const runs = await isBubblewrapUsable();

describe.skipIf(!runs)("Consecutive runs", () => {
  test("each get all of their output and only their own", async () => {
    const target = await openTarget();
    const limits = { maxOutputBytes: 1_000_000 };
    for (let round = 0; round < 20; round++) {
      const size = [1, 70_000, 300_000][round % 3] ?? 0;
      const letter = String.fromCharCode(97 + round);
      const code = `import sys\nsys.stderr.write("e")\nprint("${letter}" * ${size}, end="")`;
      const run = await target.python(code, limits);
      expect(run).toMatchObject({ stderr: "e", truncated: false });
      expect(run.stdout === letter.repeat(size)).toBe(true);
    }
  });

  test("read code and commands that are larger than a pipe's buffer", async () => {
    const target = await openTarget();
    for (const size of [4_000, 70_000, 1_000_000]) {
      const run = await target.python(`len("${"ž".repeat(size)}")\n`);
      expect(run.stdout).toBe(`${size}\n`);
    }
    expect((await target.shell(`: ${"x".repeat(100_000)}; echo on`)).stdout).toBe("on\n");
  });

  test("receive the output of a leftover process while they run", async () => {
    const target = await openTarget();
    const ticking =
      "import subprocess\nleft = subprocess.Popen(['sh', '-c', 'sleep 0.2; echo on'])";
    expect((await target.python(ticking)).stdout).toBe("");
    // It was stopped in between; it continues during this run.
    const waits = await target.python("left.wait()");
    expect(waits.stdout).toBe("on\n0\n");
  });

  test("end although a leftover process never stops writing", async () => {
    const target = await openTarget();
    await target.python("import subprocess\nleft = subprocess.Popen(['yes'])");
    for (let round = 0; round < 10; round++) {
      expect(await target.python("x = 1")).toMatchObject({ timedOut: false, error: null });
    }
    const run = await target.python("left.kill()\nleft.wait()");
    expect(run).toMatchObject({ timedOut: false, error: null });
  });

  test("are not interrupted by a late interrupt for the previous run", async () => {
    const target = await openTarget();
    for (let round = 0; round < 10; round++) {
      const stop = new AbortController();
      const run = target.python("x = 1", { signal: stop.signal }).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort();
      await run;
      expect((await target.python("6 * 7")).stdout).toBe("42\n");
    }
  });
});

describe.skipIf(!runs)("A single line of Python", () => {
  test("runs as an expression with a value, or as a statement", async () => {
    const target = await openTarget();
    for (const [code, stdout] of [
      ["6 * 7", "42\n"],
      ["x = 6 * 7", ""],
      ["x; x", "42\n"],
      ["x # the answer", "42\n"],
      ["import math; math.floor(x / 5)", "8\n"],
      ["(y := 2) + x", "44\n"],
      ["_ + y", "46\n"],
      ["", ""],
    ] as const) {
      expect(await target.python(code), code).toMatchObject({ stdout, error: null });
    }
  });

  test("reports an error or a syntax warning only once", async () => {
    const target = await openTarget();
    const wrong = await target.python(" 1 + 1");
    expect(wrong.error).toContain("IndentationError: unexpected indent");
    expect((await target.python("x = = 1")).error).toMatch(/^ {2}File "<cell 2>", line 1/);
    const failed = await target.python("1 / 0");
    expect(failed.error).toMatch(/<cell 3>", line 1, in <module>[\s\S]*division by zero$/);
    expect(failed.error).not.toContain("another exception");
    const odd = await target.python("1 is 1");
    expect(odd.stderr.split("SyntaxWarning")).toHaveLength(2);
  });
});

describe.skipIf(!runs)("Stream changes by code", () => {
  test.each([
    "sys.stdout.write('half a line')",
    "sys.stdin.close()",
    "sys.stdout.detach()",
    "sys.stdout.close(); sys.stderr.close()",
    "del sys.stdout, sys.__stderr__",
    "sys.stdout = open('log', 'w')",
    "import os; os.dup2(os.open('log', os.O_CREAT | os.O_WRONLY), 1)",
  ])("are undone after the run: %s", async (code) => {
    const target = await openTarget();
    await target.python(`import sys\n${code}`);
    const check =
      "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint(sys.stdin.read())";
    expect(await target.python(check)).toMatchObject({
      stdout: "out\n\n",
      stderr: "err\n",
      error: null,
    });
  });
});
