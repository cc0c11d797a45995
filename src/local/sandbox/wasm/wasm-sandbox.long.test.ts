import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PythonRun, RunLimits, SandboxProcess } from "../sandbox.ts";
import { isPyodideInstalled } from "./child.ts";
import { wasmSandbox } from "./wasm-sandbox.ts";

const MiB = 1024 * 1024;
const LIMITS: RunLimits = { timeoutMs: 10_000, maxOutputBytes: 10_000 };

const missing = !isPyodideInstalled();
if (missing) process.stderr.write("Skipped: pyodide is not installed (npm install pyodide)\n");

describe.skipIf(missing)("wasmSandbox()", () => {
  let root: string;
  let container: SandboxProcess;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "wink-wasm-"));
    container = await wasmSandbox().open({ root, memoryBytes: 256 * MiB });
  });
  afterAll(async () => {
    await container[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });
  const python = (code: string, limits: Partial<RunLimits> = {}): Promise<PythonRun> =>
    container.python(code, { ...LIMITS, ...limits });

  test("is usable after a trial run, and states its limits", async () => {
    const sandbox = wasmSandbox();
    expect(await sandbox.probe()).toEqual({
      usable: true,
      reason: expect.stringMatching(/^a trial run succeeded, (inside|without a barrier)/),
      limits: expect.objectContaining({ memory: "watched", disk: "enforced" }),
    });
    expect(sandbox.isolation).toContain("Without bubblewrap it is not a security boundary");
  });

  test("keeps state between runs and prints the last expression, like Jupyter", async () => {
    await python("x = 20");
    expect(await python("print('one')\nx + 1")).toEqual({
      stdout: "one\n21\n",
      stderr: "",
      error: null,
      images: [],
      timedOut: false,
      truncated: false,
      died: false,
    });
    expect((await python("x;")).stdout).toBe("");
    expect((await python("None")).stdout).toBe("");
    expect((await python("_")).stdout).toBe("21\n");
  });

  test("returns a traceback with only the code's own frames", async () => {
    const { error } = await python("def half():\n  return 1 / 0\nhalf()");
    expect(error).toMatch(/^Traceback[\s\S]*<cell \d+>", line 3[\s\S]*line 2, in half[\s\S]*zero$/);
    expect(error).not.toContain("wink");
    expect((await python("x = [")).error).toMatch(
      /^ {2}File "<cell \d+>", line 1[\s\S]*never closed$/,
    );
    expect((await python("import sys\nsys.exit(3)")).error).toBe("SystemExit: 3");
    expect((await python("sys.exit()")).error).toBeNull();
    expect((await python("sys.exit(0)")).error).toBeNull();
  });

  test("returns the whole output in the order of printing", async () => {
    const lines = [1, 2, 3].map((n) => `print(${n})\nprint(-${n}, file=sys.stderr)`).join("\n");
    const run = await python(`import sys\n${lines}\nprint('ž')`);
    expect(run).toMatchObject({ stdout: "1\n2\n3\nž\n", stderr: "-1\n-2\n-3\n" });
    expect(run.output).toBe("1\n-1\n2\n-2\n3\n-3\nž\n");
    expect((await python("print(1)")).output).toBeUndefined();
  });

  test("captures stderr, and reports end of file to code that reads input", async () => {
    expect((await python("import sys\nprint('oh', file=sys.stderr)")).stderr).toBe("oh\n");
    expect((await python("input()")).error).toContain("EOFError");
  });

  test("returns a value that is an image as an image", async () => {
    const code = "class Dot:\n  def _repr_png_(self): return b'png'\nDot()";
    const { images, stdout } = await python(code);
    expect({ images, stdout }).toEqual({
      images: [{ mediaType: "image/png", base64: "cG5n" }],
      stdout: "",
    });
  });

  test("shows the folder's files as /mnt/data, and stores files written by code there", async () => {
    await writeFile(join(root, "in.txt"), "from the host");
    const code =
      "import os\nos.makedirs('a/b'); open('a/b/c.txt', 'w').write(open('in.txt').read())";
    expect(await python(`${code}\nos.remove('in.txt')\nos.getcwd()`)).toMatchObject({
      stdout: "'/mnt/data'\n",
      error: null,
    });
    expect(await readFile(join(root, "a/b/c.txt"), "utf8")).toBe("from the host");
    expect(await readdir(root)).toEqual(["a"]);
    await rm(join(root, "a"), { recursive: true });
    expect((await python("os.listdir('.')")).stdout).toBe("[]\n");
  });

  test("runs coroutines with asyncio.run(), and leaves none running", async () => {
    const code = "import asyncio\nasync def main():\n  await asyncio.sleep(0.01)\n  return 42\n";
    expect((await python(`${code}asyncio.run(main())`)).stdout).toBe("42\n");
    const forever = "async def wait(): await asyncio.get_running_loop().create_future()\n";
    expect((await python(`${forever}asyncio.run(wait())`)).error).toContain("would wait forever");
  });

  test("imports a module from the folder", async () => {
    await writeFile(join(root, "own_module.py"), "answer = 42");
    expect((await python("import own_module\nown_module.answer")).stdout).toBe("42\n");
    await rm(join(root, "own_module.py"));
  });

  test("does not follow links in the folder", async () => {
    await symlink("/etc/hostname", join(root, "link"));
    expect((await python("import os\nos.listdir('.')")).stdout).not.toContain("link'");
    await python("open('link', 'w').write('mine')");
    expect(await readFile(join(root, "link"), "utf8")).toBe("mine");
    await rm(join(root, "link"));
  });

  test("interrupts code after the timeout, and keeps its state", async () => {
    await python("kept = 'still here'");
    for (const code of ["while True: pass", "import time\ntime.sleep(60)"]) {
      const run = await python(`print('before')\n${code}`, { timeoutMs: 200 });
      expect(run).toMatchObject({ stdout: "before\n", timedOut: true, died: false });
      expect(run.error).toMatch(/KeyboardInterrupt$/);
    }
    expect((await python("kept")).stdout).toBe("'still here'\n");
  });

  test("kills code that ignores the interrupt, and starts a new interpreter for the next run", async () => {
    const code = "print('before')\nimport itertools\nsum(itertools.count())";
    const run = await python(code, { timeoutMs: 100 });
    expect(run).toMatchObject({ stdout: "before\n", timedOut: true, died: true, error: null });
    expect(run.stderr).toContain("did not stop after its timeout");
    expect((await python("kept")).error).toContain("NameError");
  });

  test("drops output beyond the limit and sets truncated", async () => {
    const run = await python("print('é' * 100)", { maxOutputBytes: 10 });
    expect(run).toMatchObject({ stdout: "ééééé", truncated: true });
    expect((await python("print('e' * 9)", { maxOutputBytes: 10 })).truncated).toBe(false);
  });

  test("copies large files from the host, and skips files that do not fit", async () => {
    await writeFile(join(root, "a.bin"), Buffer.alloc(9 * MiB));
    await writeFile(join(root, "b.bin"), Buffer.alloc(9 * MiB));
    const { stdout } = await python(
      "import os\nsum(os.path.getsize(name) for name in os.listdir('.'))",
    );
    expect(stdout).toBe(`${18 * MiB}\n`);
    const { stderr } = await python("for name in 'abcde': open(name * 300, 'w').close()");
    expect(stderr).toMatch(/^Not stored in \/mnt\/data \(.*\): "a{100}", .* and 2 more\.\n$/);
    const quiet = await python("for name in 'abcde': os.remove(name * 300)\nos.remove('b.bin')");
    expect(quiet.stderr).toBe("");
    expect(await readdir(root)).toEqual(["a.bin"]);
  });

  test("rejects with the signal's reason when it aborts, before or during the run", async () => {
    const reason = new Error("enough");
    await expect(python("1", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const run = python("while True: pass", { signal: controller.signal });
    const told = expect(run).rejects.toBe(reason);
    await setTimeout(100);
    controller.abort(reason);
    await told;
    expect((await python("1 + 1")).stdout).toBe("2\n");
  });

  test("runs concurrent calls one after the other", async () => {
    const runs = await Promise.all([python("n = 1"), python("n += 1"), python("n")]);
    expect(runs[2].stdout).toBe("2\n");
  });

  test("has no shell, and names the sandbox with a shell", async () => {
    const { exitCode, stderr } = await container.shell("ls", LIMITS);
    expect(exitCode).toBe(127);
    expect(stderr).toContain("bubblewrap");
    const short = await container.shell("ls", { ...LIMITS, maxOutputBytes: 5 });
    expect(short).toMatchObject({ stderr: "There", truncated: true });
  });

  test("runs nothing after it is disposed of", async () => {
    const other = await wasmSandbox().open({ root, memoryBytes: 128 * MiB });
    const running = other.python("while True: pass", LIMITS);
    await setTimeout(200);
    await other[Symbol.asyncDispose]();
    expect(await running).toMatchObject({ died: true });
    await expect(other.python("1", LIMITS)).rejects.toThrow(
      "The sandbox process was disposed of. Open another one.",
    );
  });

  test("does not open and leaves no process when the opening is canceled", async () => {
    const reason = new Error("enough");
    const before = await listChildren(process.pid);
    // Cancel at a different moment each time.
    for (const wait of [0, 30, 150]) {
      const stop = new AbortController();
      const options = { root, memoryBytes: 128 * MiB, signal: stop.signal };
      const opening = wasmSandbox().open(options);
      const outcome = expect(opening).rejects.toBe(reason);
      await setTimeout(wait);
      stop.abort(reason);
      await outcome;
      await expect(wasmSandbox().open(options)).rejects.toBe(reason);
    }
    const listLeftover = async () =>
      (await listChildren(process.pid)).filter((pid) => !before.includes(pid));
    // Its guard shell exits right after it.
    await expect.poll(async () => (await listLeftover()).filter(isAlive)).toEqual([]);
  });

  test("ignores the signal once it is open", async () => {
    const stop = new AbortController();
    const options = { root, memoryBytes: 128 * MiB, signal: stop.signal };
    await using other = await wasmSandbox().open(options);
    stop.abort();
    expect((await other.python("6 * 7", LIMITS)).stdout).toBe("42\n");
  });

  test("kills an interpreter whose files cannot be stored", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wink-wasm-"));
    await using other = await wasmSandbox().open({ root: folder, memoryBytes: 128 * MiB });
    const run = other.python("import time\ntime.sleep(0.5)\nopen('x', 'w').close()", LIMITS);
    await setTimeout(200);
    await rm(folder, { recursive: true });
    expect((await run).stderr).toContain("its files could not be stored");
  });

  test("leaves no process behind when this process is killed, even while busy", async () => {
    const program = `
      const { wasmSandbox } = await import(${JSON.stringify(new URL("./wasm-sandbox.ts", import.meta.url).href)});
      const open = await wasmSandbox().open({ root: process.argv[1], memoryBytes: 134217728 });
      open.python("import itertools\\nsum(itertools.count())", { timeoutMs: 1e6, maxOutputBytes: 9 });
      setTimeout(() => console.log("busy"), 300);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program, root]);
    await once(parent.stdout, "data");
    const children = await listChildren(parent.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);
    parent.kill("SIGKILL");
    await expect.poll(() => children.filter(isAlive)).toEqual([]);
  });
});

/** Lists the child processes, except the `ps` process itself. */
async function listChildren(pid: number): Promise<number[]> {
  const ps = spawn("ps", ["-o", "pid=", "--ppid", String(pid)]);
  let text = "";
  for await (const chunk of ps.stdout) text += chunk;
  return text
    .trim()
    .split(/\s+/)
    .map(Number)
    .filter((child) => child !== ps.pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
