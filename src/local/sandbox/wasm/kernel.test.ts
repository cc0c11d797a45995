import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { isPyodideInstalled } from "./child.ts";
import { Kernel } from "./kernel.ts";
import { KernelFiles } from "./kernel-files.ts";
import type { FileChange, KernelMessage } from "./kernel-messages.ts";
import type { Pyodide, PyodideModule } from "./pyodide.ts";

const encodeText = (text: string) => new TextEncoder().encode(text);

const missing = !isPyodideInstalled();
if (missing) process.stderr.write("Skipped: pyodide is not installed (npm install pyodide)\n");

// The interpreter runs in this process without isolation, with trusted code only.
describe.skipIf(missing)("Kernel", () => {
  let pyodide: Pyodide;
  let kernel: Kernel;
  let sent: KernelMessage[] = [];

  beforeAll(async () => {
    const indexURL = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
    const { loadPyodide }: PyodideModule = await import(
      pathToFileURL(`${indexURL}/pyodide.mjs`).href
    );
    const options = { jsglobals: {}, env: {}, stdin: () => null };
    pyodide = await loadPyodide({ indexURL, ...options });
    const files = new KernelFiles(pyodide.FS, { diskBytes: 20_000_000, maxFiles: 5 });
    kernel = new Kernel(pyodide, files, async (message) => {
      sent.push(message);
    });
  });

  async function run(code: string, timeoutMs = 5_000): Promise<KernelMessage[]> {
    sent = [];
    await kernel.handle({ type: "run", code, timeoutMs, maxOutputBytes: 10_000 });
    return sent;
  }
  const listChanges = (messages: readonly KernelMessage[]): FileChange[] =>
    messages.flatMap((message) => (message.type === "changes" ? message.changes : []));
  const sendChanges = (...changes: FileChange[]) => kernel.handle({ type: "changes", changes });
  const createTextChange = (path: string, content: string): FileChange => ({
    change: "file",
    path,
    bytes: encodeText(content),
  });

  test("sends output, result and files, in this order", async () => {
    const messages = await run("print('hi')\nopen('a', 'w').write('1');");
    expect(messages.map(({ type }) => type)).toEqual(["output", "ran", "changes", "filesSent"]);
    expect(listChanges(messages)).toEqual([{ change: "file", path: "a", bytes: encodeText("1") }]);
    expect(listChanges(await run("import os\nos.remove('a')"))).toEqual([
      { change: "deleted", path: "a" },
    ]);
  });

  test("sends output in chunks while the code runs", async () => {
    const messages = await run("for _ in range(9): print('x' * 999)");
    expect(messages.filter(({ type }) => type === "output").length).toBeGreaterThan(1);
  });

  test("applies changes of the host and replaces conflicting entries", async () => {
    await sendChanges(
      { change: "folder", path: "d" },
      createTextChange("d/f", "deep"),
      createTextChange("g", "1"),
    );
    expect((await run("print(open('d/f').read())"))[0]).toMatchObject({
      bytes: encodeText("deep\n"),
    });
    await sendChanges({ change: "deleted", path: "d/f" });
    await sendChanges(createTextChange("d", "file now"), { change: "folder", path: "g" });
    const messages = await run(
      "import os\nassert open('d').read() == 'file now' and os.path.isdir('g')",
    );
    expect(messages.at(-3)).toMatchObject({ type: "ran", error: null });
    expect(listChanges(messages)).toEqual([]);
    await sendChanges({ change: "deleted", path: "d" }, { change: "deleted", path: "g" });
    await run("1");
  });

  test("skips links, and sends files only up to the limit", async () => {
    const code = "import os\nos.symlink('/lib', 'l')\nfor n in range(7): os.mkdir(f'm{n}')";
    const messages = await run(code);
    expect(listChanges(messages)).toHaveLength(5);
    expect(messages.at(-1)).toEqual({ type: "filesSent", rejected: ["m5", "m6"] });
    await run("for n in range(7): os.rmdir(f'm{n}')\nos.remove('l')");
  });

  test("rejects writes to a full disk, and counts freed space", async () => {
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

  test("skips a file of the host that does not fit", async () => {
    await sendChanges(createTextChange("huge", "x".repeat(21_000_000)));
    expect((await run("assert not os.path.exists('huge')")).slice(-3)).toEqual([
      expect.objectContaining({ error: null }),
      { type: "changes", changes: [] },
      { type: "filesSent", rejected: ["huge"] },
    ]);
  });

  test("sends large files in several messages", async () => {
    const messages = await run("for n in 'ab': open(n, 'wb').write(b'x' * 9_000_000)");
    expect(messages.filter(({ type }) => type === "changes")).toHaveLength(3);
    await run("os.remove('a'); os.remove('b')");
  });

  test("interrupts after the timeout, and stops leftover code", async () => {
    const [ran] = (await run("while True: pass", 50)).filter(({ type }) => type === "ran");
    expect(ran).toMatchObject({ timedOut: true, error: expect.stringMatching(/Interrupt$/) });
    expect(() => pyodide.runPython("while True: pass")).toThrow("KeyboardInterrupt");
  });

  test("fails when Python exits", async () => {
    await expect(run("os._exit(3)")).rejects.toThrow("exit(3)");
  });
});

/** An interpreter that runs a function instead of Python. */
function createInterpreter(
  runCell: unknown,
  hand: (signals: { 0: number }) => void = () => {},
): Pyodide {
  const doNothing = () => {};
  const files = { filesystems: {}, mkdirTree: doNothing, readdir: () => [] };
  return {
    FS: {
      ...files,
      ErrnoError: NoSpace,
      lstat: throwNoStat,
      isDir: () => false,
      isFile: () => false,
      readFile: () => encodeText(""),
      writeFile: doNothing,
      unlink: doNothing,
      rmdir: doNothing,
    },
    runPython: () => runCell,
    setInterruptBuffer: hand,
    setStdout: doNothing,
    setStderr: doNothing,
  };
}

class NoSpace extends Error {
  constructor(code: number) {
    super(`error ${code}`);
  }
}

function throwNoStat(): never {
  throw new Error("there are no files");
}

describe("Kernel with an odd interpreter", () => {
  const createKernel = (pyodide: Pyodide, sent: KernelMessage[] = []) =>
    new Kernel(pyodide, new KernelFiles(pyodide.FS, { diskBytes: 9, maxFiles: 9 }), async (one) => {
      sent.push(one);
    });

  test("rejects a bootstrap that returns no function", () => {
    expect(() => createKernel(createInterpreter(1))).toThrow("did not start correctly");
  });

  test("reports an interrupt that hit the bootstrap code as an interrupted run", async () => {
    let signals = { 0: 0 };
    const sent: KernelMessage[] = [];
    const throwInterrupt = () => {
      while (signals[0] !== 2);
      throw new Error("KeyboardInterrupt");
    };
    const kernel = createKernel(
      createInterpreter(throwInterrupt, (given) => {
        signals = given;
      }),
      sent,
    );
    await kernel.handle({ type: "run", code: "", timeoutMs: 5, maxOutputBytes: 9 });
    expect(sent[0]).toEqual({
      type: "ran",
      error: "KeyboardInterrupt",
      images: [],
      timedOut: true,
    });
  });
});
