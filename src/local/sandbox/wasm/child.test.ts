import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_BARRIER } from "./barrier.ts";
import { WasmChild } from "./child.ts";
import { encodeFrame } from "./frames.ts";
import { wasmSandbox } from "./wasm-sandbox.ts";

const MiB = 1024 * 1024;

/** A fake Pyodide package whose code is provided by each test. */
let pyodide: string;
beforeEach(async () => {
  pyodide = await mkdtemp(join(tmpdir(), "wink-pyodide-"));
});
afterEach(() => rm(pyodide, { recursive: true, force: true }));

async function startChild(body: string, startMs?: number): Promise<WasmChild> {
  await writeFile(join(pyodide, "pyodide.mjs"), `export async function loadPyodide() { ${body} }`);
  const limits = { memoryBytes: 64 * MiB, diskBytes: MiB, maxFiles: 10 };
  return new WasmChild({ pyodide, ...limits, startMs }, NO_BARRIER);
}

describe("WasmChild with a broken interpreter", () => {
  test("reports the interpreter's error", async () => {
    const child = await startChild("throw new Error('no wasm here')");
    await expect(child.waitUntilReady()).rejects.toThrow(
      "Pyodide did not start: Error: no wasm here",
    );
    expect(child.hasExited).toBe(true);
  });

  test("is killed when it does not start in time", async () => {
    const child = await startChild("await new Promise(() => setInterval(() => {}, 1000))", 300);
    await expect(child.waitUntilReady()).rejects.toThrow("did not start in time");
  });

  test("is killed for a message that no interpreter sends, and then ignored", async () => {
    const forge = (frame: Buffer) =>
      `(await import('node:fs')).writeSync(4, Buffer.from('${frame.toString("hex")}', 'hex'));`;
    const wait = "await new Promise(() => setInterval(() => {}, 1000))";
    const exec = forge(encodeFrame({ type: "exec", command: "ls" }));
    const ready = forge(encodeFrame({ type: "ready" }));
    for (const forged of [exec + ready, forge(Buffer.alloc(8, 0xff)), forge(Buffer.alloc(8, 0))]) {
      const child = await startChild(forged + wait);
      await expect(child.waitUntilReady()).rejects.toThrow(
        "a message that the interpreter never sends",
      );
    }
  });

  test("reports Node's output after a crash", async () => {
    const child = await startChild(
      "process.exitCode = 3; process.stderr.write('oops'); process.reallyExit(3)",
    );
    await expect(child.waitUntilReady()).rejects.toThrow("Pyodide did not start:");
    await child.send({ type: "changes", changes: [] });
  });

  test("can read only Pyodide, and cannot write or start anything", async () => {
    const look = `
      const [fs, processes, threads] = await Promise.all(
        ['fs', 'child_process', 'worker_threads'].map((name) => import('node:' + name)));
      const tries = [
        () => fs.readFileSync('/etc/passwd'),
        () => fs.writeFileSync('${pyodide}/x', ''),
        () => processes.spawnSync('ls'),
        () => new threads.Worker('1', { eval: true }),
        () => Function('return 1')(),
      ];
      const told = tries.map((attempt) => {
        try { attempt(); return 'open'; } catch (error) { return error.code ?? error.name; }
      });
      throw new Error(told.join(' ') + ' ' + Object.keys(process.env).length);`;
    const child = await startChild(look);
    const denied = "ERR_ACCESS_DENIED ";
    await expect(child.waitUntilReady()).rejects.toThrow(`${denied.repeat(4)}EvalError 0`);
  });

  test("is killed when it exceeds its memory limit", async () => {
    const child = await startChild(
      "globalThis.hog = Array.from({ length: 9 }, () => Buffer.alloc(2 ** 26, 1)); await new Promise(() => setInterval(() => {}, 99))",
    );
    await expect(child.waitUntilReady()).rejects.toThrow("it used more than its 64 MiB of memory");
  });
});

describe("The probe of the wasm sandbox", () => {
  test("reports how to install Pyodide if it is missing", async () => {
    const sandbox = wasmSandbox({ pyodide });
    const reason = "pyodide is not installed: npm install pyodide";
    expect(await sandbox.probe()).toEqual({ usable: false, reason });
    await expect(sandbox.open({ root: pyodide, memoryBytes: MiB })).rejects.toThrow(reason);
  });

  test("reports the result of a failed trial run", async () => {
    const body = `
      const nothing = () => {};
      const FS = { filesystems: {}, mkdirTree: nothing, readdir: () => [] };
      const answer = Buffer.from('{"error":"no sums today"}');
      const exports = {
        malloc: () => 1, free: nothing, PyUnicode_FromStringAndSize: () => 1, PyObject_CallOneArg: () => 1,
        PyBytes_AsString: () => 8, PyBytes_Size: () => answer.length, PyErr_Clear: nothing,
        Py_IncRef: nothing, Py_DecRef: nothing };
      const HEAPU8 = new Uint8Array(4096);
      WebAssembly.instantiate = async () => ({ instance: { exports } });
      const loadPyodide = async () => {
        HEAPU8.set(answer, 8);
        await WebAssembly.instantiate(null, { env: {} });
        return { FS, _module: { get HEAPU8() { HEAPU8.set(answer, 8); return HEAPU8; } }, runPython: () => 1,
          setInterruptBuffer: nothing, setStdout: nothing, setStderr: nothing }; };
      export { loadPyodide };`;
    await writeFile(join(pyodide, "pyodide.mjs"), body);
    const { reason } = await wasmSandbox({ pyodide }).probe();
    expect(reason).toMatch(/^a trial run failed \(no sums today\)/);
  });

  test("names the package to install if Pyodide does not start", async () => {
    await writeFile(join(pyodide, "pyodide.mjs"), "export const loadPyodide = 1;");
    const { usable, reason } = await wasmSandbox({ pyodide }).probe();
    expect(usable).toBe(false);
    expect(reason).toMatch(
      /^a trial run failed \(Pyodide did not start: .*\): npm install pyodide@314/,
    );
  });
});
