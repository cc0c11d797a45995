import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { COUNT_FORKS } from "../support/attacks/attack-programs.ts";
import {
  isBubblewrapUsable,
  listProcesses,
  MEBIBYTE,
  openTarget,
} from "../support/attacks/bubblewrap-target.ts";

const runs = await isBubblewrapUsable();
const LOST = "Its variables are lost.";
const DISK = `Stopped: /mnt/data may contain at most ${64 * MEBIBYTE} bytes; every entry counts as at least 4096.`;

describe.skipIf(!runs)("Bubblewrap limits", () => {
  test("stop a fork bomb in Python at the process limit, as root or not", async () => {
    const target = await openTarget();
    const run = await target.python(COUNT_FORKS);
    expect(Number(run.stdout)).toBeGreaterThan(20);
    expect(Number(run.stdout)).toBeLessThan(40);
  });

  test("kill a fork bomb that ignores the process limit after the timeout", async () => {
    const target = await openTarget();
    const bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass";
    expect(await target.python(bomb, { timeoutMs: 700 })).toMatchObject({ timedOut: true });
    const run = await target.shell(":(){ :|:& };:; sleep 5", { timeoutMs: 700 });
    expect(run).toMatchObject({ timedOut: true, exitCode: null });
  });

  test("make Python raise MemoryError and continue when one process uses too much memory", async () => {
    const target = await openTarget();
    await target.python("x = 1");
    const run = await target.python("bytearray(10 ** 9)");
    expect(run.error).toContain("MemoryError");
    expect((await target.python("x")).stdout).toBe("1\n");
  });

  test("kill everything when all processes together use too much memory", async () => {
    const target = await openTarget();
    const run = await target.python(MANY_HEAPS);
    expect(run).toMatchObject({ died: true, timedOut: false });
    expect(run.error).toBe(
      `Stopped: the container may use at most ${300 * MEBIBYTE} bytes of memory. ${LOST}`,
    );
    const command = await target.shell(`python3 -c '${MANY_HEAPS}'`);
    expect(command).toMatchObject({ exitCode: 137, timedOut: false });
    expect(command.stderr).toContain("bytes of memory.");
  });

  test("keep /tmp and /dev/shm small and allow few files there", async () => {
    const target = await openTarget();
    for (const folder of ["/tmp", "/dev/shm"]) {
      const run = await target.shell(
        `head -c 1000000000 /dev/zero > ${folder}/big; rm ${folder}/big`,
      );
      expect(run.stderr).toMatch(/No space left|File too large|File size limit/);
    }
    const run = await target.python("for i in range(10 ** 6): open(f'/tmp/{i}', 'w').close()", {
      timeoutMs: 10_000,
    });
    expect(run.error).toBe(`Stopped: too many files in /tmp or /dev/shm. ${LOST}`);
  });

  test("stop writes to a file that is too large", async () => {
    const target = await openTarget();
    const run = await target.python(
      "with open('big', 'wb') as f:\n  while True: f.write(bytes(10 ** 6))",
    );
    expect(run.error).toMatch(/File too large|may contain at most/);
    expect((await target.shell("rm -f big; yes > big; rm big")).exitCode).toBe(0);
  });

  test("kill a run that fills the folder, and allow removing files above the limit", async () => {
    const target = await openTarget();
    const fill =
      "for i in range(400): open(f'f{i}', 'wb').write(bytes(10 ** 6))\nimport time; time.sleep(5)";
    expect((await target.python(fill)).error).toBe(`${DISK} ${LOST}`);
    const more = await target.shell("head -c 30000000 /dev/zero >> f0");
    expect(more.stderr).toMatch(/File too large|File size limit/);
    expect((await target.python("import os\nos.write(os.open('f0', 1), b'x')")).error).toContain(
      "File too large",
    );
    expect(await target.shell("rm -f f* more; ls -A")).toMatchObject({ stdout: "", exitCode: 0 });
    expect((await target.python("open('more', 'w').write('x')")).stdout).toBe("1\n");
  });

  test("count deleted files, unreadable folders and deep folders", async () => {
    const target = await openTarget();
    expect((await target.python(DELETED_FILES)).error).toBe(`${DISK} ${LOST}`);
    expect((await target.python(CLOSED_FOLDER)).error).toBe(`${DISK} ${LOST}`);
    await target.shell("chmod -R u+rwx . ; rm -rf closed");
    const deep = await target.python(
      "import os, time\nfor i in range(3000):\n  os.mkdir('d'); os.chdir('d')\ntime.sleep(5)",
    );
    expect(deep.error).toContain("nested at most 400 levels deep");
    expect(await target.shell("rm -rf d too-deep-*; ls -A")).toMatchObject({ stdout: "" });
  });

  test("stop the creation of a million files", async () => {
    const target = await openTarget();
    const run = await target.python("for i in range(10 ** 6): open(f'f{i}', 'w').close()", {
      timeoutMs: 20_000,
    });
    expect(run.error).toBe(`${DISK} ${LOST}`);
    expect(readdirSync(target.root).length).toBeLessThan(100_000);
    await target.shell("find . -type f -delete", { timeoutMs: 20_000 });
  });

  test("drop a flood of output, and end the run in time", async () => {
    const target = await openTarget();
    for (const run of [
      await target.python("while True: print('x' * 1000)", { timeoutMs: 500 }),
      await target.shell("yes", { timeoutMs: 500 }),
    ]) {
      expect(run).toMatchObject({ timedOut: true, truncated: true });
      expect(run.stdout.length).toBe(20_000);
    }
  });

  test("stop leftover threads and processes between runs", async () => {
    const target = await openTarget();
    await target.python(TICKING);
    const before = Number((await target.python("print(ticks[0])")).stdout);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const after = Number((await target.python("print(ticks[0])")).stdout);
    // It would tick 100 times a second if it were running.
    expect(after - before).toBeLessThan(20);
    expect(listProcesses(target.root).length).toBeGreaterThan(0);
  });
});

const MANY_HEAPS = `
import os, time
for i in range(20):
    if os.fork() == 0:
        heap = bytearray(b"x") * (100 * 2 ** 20)
        time.sleep(30)
time.sleep(30)
`;

const DELETED_FILES = `
import os, time
kept = []
for i in range(20):
    file = open("gone", "wb")
    os.unlink("gone")
    file.write(bytes(10 ** 7))
    file.flush()
    kept.append(file)
time.sleep(5)
`;

const CLOSED_FOLDER = `
import os, time
os.makedirs("closed/inner")
folder = os.open("closed/inner", os.O_RDONLY)
os.chmod("closed", 0)
for i in range(20):
    os.write(os.open(f"f{i}", os.O_CREAT | os.O_WRONLY, dir_fd=folder), bytes(10 ** 7))
time.sleep(5)
`;

const TICKING = `
import subprocess, threading, time
ticks = [0]
def tick():
    while True:
        ticks[0] += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
left = subprocess.Popen(["sleep", "60"])
`;
