import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { isPyodideInstalled } from "./child.ts";
import { Kernel } from "./kernel.ts";
import { KernelFiles } from "./kernel-files.ts";
import type { FileChange, FromKernel } from "./messages.ts";
import type { Pyodide, PyodideModule } from "./pyodide.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

const missing = !isPyodideInstalled();
if (missing) process.stderr.write("Skipped: pyodide is not installed (npm install pyodide)\n");

// Here the interpreter runs in this process, where nothing is closed: only our own code is run in it.
describe.skipIf(missing)("the interpreter's side", () => {
  let pyodide: Pyodide;
  let kernel: Kernel;
  let said: FromKernel[] = [];

  beforeAll(async () => {
    const indexURL = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
    const { loadPyodide }: PyodideModule = await import(
      pathToFileURL(`${indexURL}/pyodide.mjs`).href
    );
    const options = { jsglobals: {}, env: {}, stdin: () => null };
    pyodide = await loadPyodide({ indexURL, ...options });
    const files = new KernelFiles(pyodide.FS, { diskBytes: 20_000_000, maxFiles: 5 });
    kernel = new Kernel(pyodide, files, async (message) => {
      said.push(message);
    });
  });

  async function run(code: string, timeoutMs = 5_000): Promise<FromKernel[]> {
    said = [];
    await kernel.do({ type: "run", code, timeoutMs, maxOutputBytes: 10_000 });
    return said;
  }
  const changesOf = (messages: readonly FromKernel[]): FileChange[] =>
    messages.flatMap((message) => (message.type === "changes" ? message.changes : []));
  const bring = (...changes: FileChange[]) => kernel.do({ type: "changes", changes });
  const text = (path: string, content: string): FileChange => ({
    change: "file",
    path,
    bytes: bytesOf(content),
  });

  test("tells of output, of the result and of files, in this order", async () => {
    const messages = await run("print('hi')\nopen('a', 'w').write('1');");
    expect(messages.map(({ type }) => type)).toEqual(["output", "ran", "changes", "kept"]);
    expect(changesOf(messages)).toEqual([{ change: "file", path: "a", bytes: bytesOf("1") }]);
    expect(changesOf(await run("import os\nos.remove('a')"))).toEqual([
      { change: "gone", path: "a" },
    ]);
  });

  test("sends what is printed in pieces while the code runs", async () => {
    const messages = await run("for _ in range(9): print('x' * 999)");
    expect(messages.filter(({ type }) => type === "output").length).toBeGreaterThan(1);
  });

  test("does what was done on the host, whatever is in the way", async () => {
    await bring({ change: "folder", path: "d" }, text("d/f", "deep"), text("g", "1"));
    expect((await run("print(open('d/f').read())"))[0]).toMatchObject({
      bytes: bytesOf("deep\n"),
    });
    await bring({ change: "gone", path: "d/f" });
    await bring(text("d", "file now"), { change: "folder", path: "g" });
    const messages = await run(
      "import os\nassert open('d').read() == 'file now' and os.path.isdir('g')",
    );
    expect(messages.at(-3)).toMatchObject({ type: "ran", error: null });
    expect(changesOf(messages)).toEqual([]);
    await bring({ change: "gone", path: "d" }, { change: "gone", path: "g" });
    await run("1");
  });

  test("tells of no links, and of no more files than it may", async () => {
    const code = "import os\nos.symlink('/lib', 'l')\nfor n in range(7): os.mkdir(f'm{n}')";
    const messages = await run(code);
    expect(changesOf(messages)).toHaveLength(5);
    expect(messages.at(-1)).toEqual({ type: "kept", left: ["m5", "m6"] });
    await run("for n in range(7): os.rmdir(f'm{n}')\nos.remove('l')");
  });

  test("refuses writes where the disk would be full, and counts what was freed", async () => {
    const fill = "open('big', 'wb').write(b'x' * 15_000_000)";
    expect((await run(fill)).find(({ type }) => type === "ran")).toMatchObject({ error: null });
    const more = await run(
      "os.makedirs('/tmp/t', exist_ok=True)\nopen('/tmp/t/b', 'wb').write(b'x' * 9_000_000)",
    );
    const [ran] = more.filter(({ type }) => type === "ran");
    expect(ran).toMatchObject({ error: expect.stringContaining("No space left") });
    await run("os.remove('big')\nos.remove('/tmp/t/b')");
    expect((await run(fill)).find(({ type }) => type === "ran")).toMatchObject({ error: null });
    const grown = await run("os.truncate('big', 30_000_000)");
    expect(grown.find(({ type }) => type === "ran")).toMatchObject({
      error: expect.stringContaining("No space left"),
    });
    await run("os.truncate('big', 3)\nos.remove('big')");
  });

  test("leaves out a file of the host for which there is no room", async () => {
    await bring(text("huge", "x".repeat(21_000_000)));
    expect((await run("assert not os.path.exists('huge')")).slice(-3)).toEqual([
      expect.objectContaining({ error: null }),
      { type: "changes", changes: [] },
      { type: "kept", left: ["huge"] },
    ]);
  });

  test("sends big files in more than one message", async () => {
    const messages = await run("for n in 'ab': open(n, 'wb').write(b'x' * 9_000_000)");
    expect(messages.filter(({ type }) => type === "changes")).toHaveLength(3);
    await run("os.remove('a'); os.remove('b')");
  });

  test("interrupts once the time is up, and stops what was left for later", async () => {
    const [ran] = (await run("while True: pass", 50)).filter(({ type }) => type === "ran");
    expect(ran).toMatchObject({ timedOut: true, error: expect.stringMatching(/Interrupt$/) });
    expect(() => pyodide.runPython("while True: pass")).toThrow("KeyboardInterrupt");
  });

  test("fails as a whole when Python ends itself", async () => {
    await expect(run("os._exit(3)")).rejects.toThrow("exit(3)");
  });
});

/** An interpreter that runs a function instead of Python. */
function standIn(runCell: unknown, hand: (signals: { 0: number }) => void = () => {}): Pyodide {
  const nothing = () => {};
  const files = { filesystems: {}, mkdirTree: nothing, readdir: () => [] };
  return {
    FS: {
      ...files,
      ErrnoError: NoSpace,
      lstat: noStat,
      isDir: () => false,
      isFile: () => false,
      readFile: () => bytesOf(""),
      writeFile: nothing,
      unlink: nothing,
      rmdir: nothing,
    },
    runPython: () => runCell,
    setInterruptBuffer: hand,
    setStdout: nothing,
    setStderr: nothing,
  };
}

class NoSpace extends Error {
  constructor(code: number) {
    super(`error ${code}`);
  }
}

function noStat(): never {
  throw new Error("there are no files");
}

describe("an interpreter that behaves oddly", () => {
  const kernelOn = (pyodide: Pyodide, said: FromKernel[] = []) =>
    new Kernel(pyodide, new KernelFiles(pyodide.FS, { diskBytes: 9, maxFiles: 9 }), async (one) => {
      said.push(one);
    });

  test("is refused if its start gives no function", () => {
    expect(() => kernelOn(standIn(1))).toThrow("did not start as it should");
  });

  test("is believed to have been interrupted if that met our own lines", async () => {
    let signals = { 0: 0 };
    const said: FromKernel[] = [];
    const interrupted = () => {
      while (signals[0] !== 2);
      throw new Error("KeyboardInterrupt");
    };
    const kernel = kernelOn(
      standIn(interrupted, (given) => {
        signals = given;
      }),
      said,
    );
    await kernel.do({ type: "run", code: "", timeoutMs: 5, maxOutputBytes: 9 });
    expect(said[0]).toEqual({
      type: "ran",
      error: "KeyboardInterrupt",
      images: [],
      timedOut: true,
    });
  });
});
