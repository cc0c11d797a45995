import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WasmChild } from "./child.ts";
import { wasmSandbox } from "./wasm.ts";

const MiB = 1024 * 1024;

/** A package that is not Pyodide, got started as if it were. So it says and does what a test needs. */
let pyodide: string;
beforeEach(async () => {
  pyodide = await mkdtemp(join(tmpdir(), "wink-pyodide-"));
});
afterEach(() => rm(pyodide, { recursive: true, force: true }));

async function childThat(body: string, startMs?: number): Promise<WasmChild> {
  await writeFile(join(pyodide, "pyodide.mjs"), `export async function loadPyodide() { ${body} }`);
  const limits = { memoryBytes: 64 * MiB, diskBytes: MiB, maxFiles: 10 };
  return new WasmChild({ pyodide, ...limits, startMs });
}

describe("a child that is no use", () => {
  test("is reported with what it said", async () => {
    const child = await childThat("throw new Error('no wasm here')");
    await expect(child.ready()).rejects.toThrow("Pyodide did not start: Error: no wasm here");
    expect(child.isGone).toBe(true);
  });

  test("is killed when it does not start in time", async () => {
    const child = await childThat("await new Promise(() => setInterval(() => {}, 1000))", 300);
    await expect(child.ready()).rejects.toThrow("did not start in time");
  });

  test("is killed when it sends what no interpreter sends, and not listened to after", async () => {
    const forged =
      "process.send({ type: 'exec', command: 'ls' }); process.send({ type: 'ready' });";
    const child = await childThat(`${forged} await new Promise(() => {})`);
    await expect(child.ready()).rejects.toThrow("a message that is none of the interpreter's");
  });

  test("is reported with what Node printed when it crashed", async () => {
    const child = await childThat(
      "process.exitCode = 3; process.stderr.write('oops'); process.reallyExit(3)",
    );
    await expect(child.ready()).rejects.toThrow("Pyodide did not start:");
    await child.send({ type: "changes", changes: [] });
  });

  test("may read Pyodide and nothing else, write nothing and start nothing", async () => {
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
    const child = await childThat(look);
    const denied = "ERR_ACCESS_DENIED ";
    await expect(child.ready()).rejects.toThrow(`${denied.repeat(4)}EvalError 0`);
  });

  test("is killed when it holds more memory than it may", async () => {
    const child = await childThat(
      "globalThis.hog = Array.from({ length: 9 }, () => Buffer.alloc(2 ** 26, 1)); await new Promise(() => setInterval(() => {}, 99))",
    );
    using _watch = child.watchMemory();
    await expect(child.ready()).rejects.toThrow("more memory than the 64 MiB it may");
  });
});

describe("the probe of a wasm sandbox", () => {
  test("says that Pyodide is not installed, and how it is, where it is not", async () => {
    const sandbox = wasmSandbox({ pyodide });
    const reason = "pyodide is not installed: npm install pyodide";
    expect(await sandbox.probe()).toEqual({ usable: false, reason });
    await expect(sandbox.open({ root: pyodide, memoryBytes: MiB })).rejects.toThrow(reason);
  });

  test("says what came of the trial run where that goes wrong", async () => {
    const body = `
      const nothing = () => {};
      const FS = { filesystems: {}, mkdirTree: nothing, readdir: () => [] };
      const runPython = () => () => ({ toJs: () => ["no sums today", []], destroy: nothing });
      const loadPyodide = async () => ({
        FS, runPython, setInterruptBuffer: nothing, setStdout: nothing, setStderr: nothing });
      export { loadPyodide };`;
    await writeFile(join(pyodide, "pyodide.mjs"), body);
    const { reason } = await wasmSandbox({ pyodide }).probe();
    expect(reason).toMatch(/^a trial run failed \(no sums today\)/);
  });

  test("names what to install where Pyodide does not start", async () => {
    await writeFile(join(pyodide, "pyodide.mjs"), "export const loadPyodide = 1;");
    const { usable, reason } = await wasmSandbox({ pyodide }).probe();
    expect(usable).toBe(false);
    expect(reason).toMatch(
      /^a trial run failed \(Pyodide did not start: .*\): npm install pyodide@314/,
    );
  });
});
