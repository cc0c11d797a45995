import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { PythonRun, RunLimits, SandboxProcess } from "../../src/local/sandbox/sandbox.ts";
import { wasmSandbox } from "../../src/local/sandbox/wasm/wasm-sandbox.ts";

const MiB = 1024 * 1024;
const { usable, reason } = await wasmSandbox().probe();
if (!usable) process.stderr.write(`Skipped: ${reason}\n`);

describe.skipIf(!usable)("Python in the wasm sandbox", () => {
  let parent: string;
  let root: string;
  let container: SandboxProcess;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "wink-attack-"));
    root = join(parent, "data");
    await mkdir(root);
    await writeFile(join(parent, "secret.txt"), "of the host");
    const limits = { memoryBytes: 256 * MiB, diskBytes: 32 * MiB };
    container = await wasmSandbox().open({ root, ...limits });
  });
  afterEach(async () => {
    // After any attack the next run works, and files outside the folder are unchanged.
    expect(await python("print(6 * 7)")).toMatchObject({ stdout: "42\n", error: null });
    expect((await readdir(parent)).sort()).toEqual(["data", "secret.txt"]);
    expect(await readFile(join(parent, "secret.txt"), "utf8")).toBe("of the host");
    for (const name of await readdir(root)) await rm(join(root, name), { recursive: true });
  });
  afterAll(async () => {
    await container?.[Symbol.asyncDispose]();
    await rm(parent, { recursive: true, force: true });
  });

  const python = (code: string, limits: Partial<RunLimits> = {}): Promise<PythonRun> =>
    container.python(code, { timeoutMs: 10_000, maxOutputBytes: 20_000, ...limits });
  const IMPORTS =
    "import os\ntry:\n  import js, pyodide_js, pyodide.ffi as ffi\n  FS = pyodide_js.FS\nexcept ImportError: pass\n";

  /** Runs each piece of code and returns its output, or the last line of its error. */
  async function runAttempts(...tries: readonly string[]): Promise<string[]> {
    const results = [];
    for (const code of tries) {
      const { stdout, error, died } = await python(IMPORTS + code);
      results.push(died ? "died" : (error?.split("\n").at(-1) ?? stdout));
    }
    return results;
  }

  test("cannot read the host's files, through Python or through Pyodide's access to Node", async () => {
    const hostFile = JSON.stringify(join(parent, "secret.txt"));
    const folder = JSON.stringify(parent);
    const node = "node = FS.filesystems.NODEFS\n";
    for (const result of await runAttempts(
      "open('/etc/passwd').read()",
      `open(${hostFile}).read()`,
      `pyodide_js.mountNodeFS('/host', ${folder})\nos.listdir('/host')`,
      `${node}FS.mkdir('/h')\nFS.mount(node, ffi.to_js({'root': ${folder}}), '/h')\nos.listdir('/h')`,
      `${node}node.getMode(${hostFile})`,
      `FS.createLazyFile('/', 'lazy', ${hostFile}, True, False)\nopen('/lazy').read()`,
      `pyodide_js._api.loadBinaryFile(${hostFile}).result()`,
      "import ctypes\nctypes.CDLL('libc.so.6')",
      "os.listdir('/proc/1')",
    )) {
      expect(result).toMatch(/Error|Exception|died/);
      expect(result).not.toContain("of the host");
    }
  });

  test("cannot create JavaScript from text, so it cannot reach globalThis, process or require", async () => {
    const results = await runAttempts(
      "FS.constructor.constructor('return process')()",
      "pyodide_js.loadPackage.constructor('return process')()",
      "FS.readFile.constructor('return globalThis')()",
      "from pyodide.code import run_js\nrun_js('process')",
      "js.process",
      "js.require('fs')",
      "js.globalThis",
      "import ctypes\npyodide_js._module._emscripten_run_script(0)",
    );
    for (const line of results) expect(line).toMatch(/^NameError|^ModuleNotFoundError/);
  });

  test("cannot see the host's environment variables or paths", async () => {
    const { stdout } = await python("import os, sys\nprint(dict(os.environ), sys.argv, sys.path)");
    expect(stdout).not.toContain(process.cwd());
    for (const name of ["NODE_OPTIONS", "VITEST", "TERM"]) expect(stdout).not.toContain(name);
  });

  test("cannot reach the network: a server on loopback sees no connection", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const url = `http://127.0.0.1:${port}/x.whl`;
    await runAttempts(
      `import urllib.request\nurllib.request.urlopen('${url}')`,
      `import socket\nsocket.create_connection(('127.0.0.1', ${port}))`,
      `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', ${port}))`,
      `pyodide_js.loadPackage('${url}')`,
      `pyodide_js._api.loadBinaryFile('${url}')`,
      `from pyodide.http import pyfetch\nimport asyncio\nasyncio.ensure_future(pyfetch('${url}'))`,
      `from pyodide.http import open_url\nopen_url('${url}')`,
      "pyodide_js._api.initializeNodeSockFS()",
      `import socket\nsocket.create_connection(('127.0.0.1', ${port}))`,
      `js.fetch('${url}')`,
      "import time\ntime.sleep(0.3)",
    );
    expect(connections).toBe(0);
    server.close();
  });

  test("cannot start, fork or signal processes, or start threads", async () => {
    const marker = join(parent, "marker");
    expect(
      await runAttempts(
        `os.system('touch ${marker}') >> 8`,
        `import subprocess\nsubprocess.run(['touch', '${marker}'])`,
        "os.fork()",
        `os.kill(${process.pid}, 9)`,
        "import threading\nthreading.Thread(target=print).start()",
      ),
    ).toEqual([
      "127\n",
      expect.stringContaining("does not support processes"),
      expect.stringContaining("OSError"),
      expect.stringMatching(/Error/),
      expect.stringContaining("can't start new thread"),
    ]);
  });

  test("cannot write to the channel to the parent, so it cannot forge messages", async () => {
    const write = "FS.filesystems.NODEFS.stream_ops.write";
    const forged = `${write}(ffi.to_js({'nfd': 3}), ffi.to_js(b'x' * 99), 0, 99, None)`;
    expect(await runAttempts(forged)).toEqual([expect.stringContaining("NameError")]);
  });

  test("gets a MemoryError for a memory bomb, and is killed if the bomb is outside Python's memory", async () => {
    const inPython = await python(
      "def bomb():\n  hog = []\n  while True: hog.append('x' * 10**6)\nbomb()",
    );
    expect(inPython).toMatchObject({ error: expect.stringMatching(/MemoryError$/), died: false });
    // The bytes in a pipe are in JavaScript's memory.
    const outside = "for _ in range(999): os.write(os.pipe()[1], b'x' * 2**24)";
    const run = await python(IMPORTS + outside);
    expect(run).toMatchObject({
      died: true,
      stderr: expect.stringMatching(/more than its \d+ MiB of memory/),
    });
  });

  test("gets an OSError for a disk bomb, in /mnt/data and in /tmp", async () => {
    const bomb = (folder: string) =>
      `with open('${folder}/bomb', 'wb') as file:\n  while True: file.write(b'x' * 2**20)`;
    for (const result of await runAttempts(
      bomb("/mnt/data"),
      `os.remove('bomb')\n${bomb("/tmp")}`,
    )) {
      expect(result).toContain("No space left");
    }
    await python("import os\nos.remove('/tmp/bomb')");
  });

  test("is interrupted in an endless loop, and killed if it catches the interrupt", async () => {
    const loop = await python("while True: pass", { timeoutMs: 200 });
    expect(loop).toMatchObject({ timedOut: true, died: false });
    const stubborn = "while True:\n  try:\n    while True: pass\n  except BaseException: pass";
    const killed = await python(stubborn, { timeoutMs: 200 });
    expect(killed).toMatchObject({ timedOut: true, died: true });
  });

  test("does not delay the next run with a loop scheduled for later", async () => {
    const spin = "import asyncio\ndef spin():\n  while True: pass\n";
    await python(`kept = 1\n${spin}asyncio.get_event_loop().call_later(0, spin)`);
    expect((await python("kept")).stdout).toBe("1\n");
  });

  test("has its endless output truncated", async () => {
    const { stdout, truncated } = await python("while True: print('x' * 999)", { timeoutMs: 300 });
    expect({ length: stdout.length, truncated }).toEqual({ length: 20_000, truncated: true });
  });

  test("gets an error for endless recursion, or at most loses the interpreter", async () => {
    const deep = "def deep(): deep()\n";
    const results = await runAttempts(
      `${deep}deep()`,
      `import sys\nsys.setrecursionlimit(10**9)\n${deep}deep()`,
      "import sys\nsys.setrecursionlimit(1000)\nraise RecursionError('alive')",
    );
    expect(results[0]).toContain("RecursionError");
    expect(results[2]).toContain("alive");
  });

  test("loses only the interpreter when it exits or corrupts its memory", async () => {
    const results = await runAttempts(
      "os._exit(3)",
      "os.abort()",
      "import ctypes\nctypes.memset(0, 1, 2**26)",
    );
    expect(results).toEqual(["died", "died", "died"]);
  });

  test("cannot follow links to the host or create usable ones", async () => {
    await symlink(join(parent, "secret.txt"), join(root, "theirs"));
    const folder = JSON.stringify(parent);
    const results = await runAttempts(
      "open('theirs').read()",
      `os.symlink(${folder}, 'up')\nopen('up/secret.txt').read()`,
      `os.symlink('/tmp', 'inner')\nopen('inner/x', 'w').write('x')`,
      "open('theirs', 'w').write('overwritten')",
    );
    expect(results.slice(0, 2)).toEqual(
      Array(2).fill(expect.stringContaining("FileNotFoundError")),
    );
    expect(await readdir(root)).toEqual(["theirs"]);
  });

  test("cannot write names that lead out of /mnt/data", async () => {
    const data = "FS.root.contents.mnt.contents.data.contents";
    await runAttempts(
      "open('/mnt/data/../evil', 'w').write('x')",
      "open('../../evil', 'w').write('x')",
      `setattr(${data}, '../evil', FS.lookupPath('/mnt/evil').node)`,
      "os.mkdir('__proto__')\nopen('__proto__/x', 'w').write('1')\nos.rename('__proto__/x', '../evil')",
      "import shutil\nshutil.rmtree('__proto__')",
    );
    expect(await readdir(root)).toEqual([]);
    const { stderr } = await python(`open('x' * 300, 'w').close()`);
    expect(stderr).toContain("Not stored in /mnt/data");
    await python(`os.remove('x' * 300)`);
  });

  test("cannot replace the functions that report its files", async () => {
    const results = await runAttempts(
      "FS.lstat = lambda path: [0 for _ in iter(int, 1)]\nopen('x', 'w').write('1')",
      "FS.readFile = lambda path: 'no bytes'\nopen('y', 'w').write('1')",
    );
    for (const result of results) expect(result).toContain("NameError");
  });

  test("stores 10,000 files, but not more than 20,000", async () => {
    const make = (count: number) => `for n in range(${count}): open(f'n{n}', 'w').close()`;
    expect((await python(make(10_000))).stderr).toBe("");
    expect(await readdir(root)).toHaveLength(10_000);
    expect((await python(make(20_002))).stderr).toMatch(/Not stored in \/mnt\/data .*"n20000"/);
    expect(await readdir(root)).toHaveLength(20_000);
    await python("import os\nfor name in os.listdir('.'): os.remove(name)");
    expect(await readdir(root)).toEqual([]);
  });
});
