import { describe, expect, test } from "vitest";
import { isBubblewrapUsable, openTarget } from "../support/attacks/bubblewrap-target.ts";

const runs = await isBubblewrapUsable();

describe.skipIf(!runs)("The interpreter in bubblewrap harms only itself", () => {
  test("when it writes to every open descriptor", async () => {
    const target = await openTarget();
    const forge = (bytes: string) =>
      `import os\nfor fd in range(3, 256):\n  try: os.write(fd, ${bytes})\n  except OSError: pass\nimport time; time.sleep(1)`;
    for (const bytes of [
      "b'\\xff' * 5000",
      "b'\\x00\\x00\\x00\\x02{}'",
      "b'\\x00\\x00\\x00\\x30' + b'0' * 16 + b'{\"error\":null,\"images\":[]}      '",
    ]) {
      const run = await target.python(forge(bytes));
      expect(run).toMatchObject({ died: true, timedOut: false });
      expect(run.error).toContain("a process other than the interpreter sent a response");
    }
  });

  test("when it forges an invalid answer of the interpreter", async () => {
    const target = await openTarget();
    const run = await target.python(FORGED_ANSWER);
    expect(run).toMatchObject({
      died: true,
      images: [],
      error: "The interpreter ended unexpectedly. Its variables are lost.",
    });
  });

  test("when it closes all its descriptors", async () => {
    const target = await openTarget();
    expect(await target.python("import os\nos.closerange(0, 1024)")).toMatchObject({ died: true });
    await target.python("import os\nos.close(1); os.close(2)\nprint('lost')");
    expect((await target.python("print('heard')")).stdout).toBe("heard\n");
  });

  test("when it replaces its output", async () => {
    const target = await openTarget();
    await target.python("import sys\nsys.stdout = sys.stderr = None");
    expect((await target.python("print(1)")).stdout).toBe("1\n");
    const evil =
      "class Evil:\n  def __getattr__(self, name): raise SystemExit\nsys.stdout = Evil()\nprint(1)";
    expect(await target.python(`import sys\n${evil}`)).toMatchObject({ died: false });
  });

  test("when it replaces its own functions", async () => {
    const target = await openTarget();
    await target.python("import builtins, json, os\nos.write = json.dumps = None", {
      timeoutMs: 500,
    });
    expect((await target.python("print(1)")).stdout).toBe("1\n");
  });

  test("when it recurses endlessly, even if Python allows it", async () => {
    const target = await openTarget();
    const recurse = "def f(): f()\nf()";
    expect((await target.python(recurse)).error).toContain("RecursionError");
    await target.python(`import sys\nsys.setrecursionlimit(10 ** 9)\n${recurse}`, {
      timeoutMs: 1_500,
    });
    const crash = await target.python("import ctypes\nctypes.string_at(0)");
    expect(crash.error).toBe("The interpreter was killed by signal 11. Its variables are lost.");
  });

  test("when it raises an exception that cannot be printed", async () => {
    const target = await openTarget();
    const run = await target.python(
      "class Bad(Exception):\n  def __str__(self): raise SystemExit\nraise Bad()",
    );
    expect(run).toMatchObject({ died: false });
    expect(run.error).toContain("Bad");
  });

  test("when it stops itself", async () => {
    const target = await openTarget();
    const stop = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)";
    expect(await target.python(stop, { timeoutMs: 300 })).toMatchObject({
      timedOut: true,
      died: false,
    });
    expect(await target.shell("kill -STOP $$", { timeoutMs: 300 })).toMatchObject({
      timedOut: true,
    });
  });

  test("when it kills all visible processes or process 1", async () => {
    const target = await openTarget();
    await target.python("import os, signal\nfor n in range(1, 32): os.kill(1, n)");
    await target.shell("kill -9 -1");
    const run = await target.python("import os\nos.kill(os.getpid(), 9)");
    expect(run.error).toBe("The interpreter was killed by signal 9. Its variables are lost.");
  });

  test("when it lowers the limits of process 1: the call is refused", async () => {
    const target = await openTarget();
    const run = await target.python(
      "import resource, time\nresource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))\ntime.sleep(2)",
    );
    expect(run).toMatchObject({ died: false });
    expect(run.error).toContain("PermissionError");
  });

  test("when it hides its resource usage: it is killed", async () => {
    const target = await openTarget();
    const run = await target.python(
      "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\ntime.sleep(2)",
    );
    expect(run).toMatchObject({ died: true, timedOut: false });
  });

  test("when it leaves threads and processes running", async () => {
    const target = await openTarget();
    await target.python(
      "import threading, subprocess\ndef spin():\n  while True: pass\n" +
        "threading.Thread(target=spin, daemon=True).start()\nsubprocess.Popen(['sleep', '60'])",
    );
    expect((await target.python("print(1)")).stdout).toBe("1\n");
  });

  test("when it waits for a command that ignores interrupts", async () => {
    const target = await openTarget();
    const run = await target.python("import os\nos.system('sleep 50')\nprint('after')", {
      timeoutMs: 300,
    });
    expect(run).toMatchObject({ timedOut: true, died: false });
  });
});

/** Reads the ticket from the kernel's stack frame, which code in the same interpreter can always do. */
const FORGED_ANSWER = `
import os, struct, sys, time
frame = sys._getframe()
while "ticket" not in frame.f_locals:
    frame = frame.f_back
body = frame.f_locals["ticket"] + b'{"error": 5, "images": ["<svg>"]}'
os.write(frame.f_locals["replies"], struct.pack(">I", len(body)) + body)
time.sleep(2)
`;
