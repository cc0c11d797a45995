import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { isPyodideInstalled } from "../child.ts";
import type { FileChange, KernelMessage } from "../kernel-messages.ts";
import { Kernel } from "./kernel.ts";
import { KernelFiles } from "./kernel-files.ts";
import type { PyodideFiles, PyodideModule } from "./pyodide.ts";
import { type StartedInterpreter, startInterpreter } from "./start-interpreter.ts";

const encodeText = (text: string) => new TextEncoder().encode(text);

const missing = !isPyodideInstalled();
if (missing) process.stderr.write("Skipped: pyodide is not installed (npm install pyodide)\n");

// The interpreter runs in this process without isolation, with trusted code only.
describe.skipIf(missing)("Kernel", () => {
  let started: StartedInterpreter;
  let sent: KernelMessage[] = [];

  beforeAll(async () => {
    const folder = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
    const module: PyodideModule = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
    const limits = { diskBytes: 20_000_000, maxFiles: 5 };
    const post = (message: KernelMessage) => {
      sent.push(message);
    };
    started = await startInterpreter(module, folder, limits, post, (name) => {
      throw new Error(`closed: ${name}`);
    });
    started.lock();
  });

  function run(code: string, timeoutMs = 5_000): KernelMessage[] {
    sent = [];
    const command = { type: "run", code, timeoutMs, maxOutputBytes: 10_000 } as const;
    started.kernel.handle(command, started.python);
    return sent;
  }
  const listChanges = (messages: readonly KernelMessage[]): FileChange[] =>
    messages.flatMap((message) => (message.type === "changes" ? message.changes : []));
  const sendChanges = (...changes: FileChange[]) =>
    started.kernel.handle({ type: "changes", changes }, started.python);
  const createTextChange = (path: string, content: string): FileChange => ({
    change: "file",
    path,
    bytes: encodeText(content),
  });

  test("sends output, result and files, in this order", () => {
    const messages = run("print('hi')\nopen('a', 'w').write('1');");
    expect(messages.map(({ type }) => type)).toEqual(["output", "ran", "changes", "filesSent"]);
    expect(listChanges(messages)).toEqual([{ change: "file", path: "a", bytes: encodeText("1") }]);
    expect(listChanges(run("import os\nos.remove('a')"))).toEqual([
      { change: "deleted", path: "a" },
    ]);
  });

  test("sends output in chunks while the code runs", () => {
    const messages = run("for _ in range(9): print('x' * 999)");
    expect(messages.filter(({ type }) => type === "output").length).toBeGreaterThan(1);
  });

  test("applies changes of the host and replaces conflicting entries", () => {
    sendChanges(
      { change: "folder", path: "d" },
      createTextChange("d/f", "deep"),
      createTextChange("g", "1"),
    );
    expect(run("print(open('d/f').read())")[0]).toMatchObject({ bytes: Buffer.from("deep\n") });
    sendChanges({ change: "deleted", path: "d/f" });
    sendChanges(createTextChange("d", "file now"), { change: "folder", path: "g" });
    const messages = run("import os\nassert open('d').read() == 'file now' and os.path.isdir('g')");
    expect(messages.at(-3)).toMatchObject({ type: "ran", error: null });
    expect(listChanges(messages)).toEqual([]);
    sendChanges({ change: "deleted", path: "d" }, { change: "deleted", path: "g" });
    run("1");
  });

  test("skips links, and sends files only up to the limit", () => {
    const code = "import os\nos.symlink('/lib', 'l')\nfor n in range(7): os.mkdir(f'm{n}')";
    const messages = run(code);
    expect(listChanges(messages)).toHaveLength(5);
    expect(messages.at(-1)).toEqual({ type: "filesSent", rejected: ["m5", "m6"] });
    run("for n in range(7): os.rmdir(f'm{n}')\nos.remove('l')");
  });

  test("rejects writes to a full disk, and counts freed space", () => {
    const fill = "open('big', 'wb').write(b'x' * 15_000_000)";
    expect(run(fill).find(({ type }) => type === "ran")).toMatchObject({ error: null });
    const more = run(
      "os.makedirs('/tmp/t', exist_ok=True)\nopen('/tmp/t/b', 'wb').write(b'x' * 9_000_000)",
    );
    const [ran] = more.filter(({ type }) => type === "ran");
    expect(ran).toMatchObject({ error: expect.stringContaining("No space left") });
    run("os.remove('big')\nos.remove('/tmp/t/b')");
    expect(run(fill).find(({ type }) => type === "ran")).toMatchObject({ error: null });
    const grown = run("os.truncate('big', 30_000_000)");
    expect(grown.find(({ type }) => type === "ran")).toMatchObject({
      error: expect.stringContaining("No space left"),
    });
    run("os.truncate('big', 3)\nos.remove('big')");
  });

  test("skips a file of the host that does not fit", () => {
    sendChanges(createTextChange("huge", "x".repeat(21_000_000)));
    expect(run("assert not os.path.exists('huge')").slice(-3)).toEqual([
      expect.objectContaining({ error: null }),
      { type: "changes", changes: [] },
      { type: "filesSent", rejected: ["huge"] },
    ]);
  });

  test("sends large files in several messages", () => {
    const messages = run("for n in 'ab': open(n, 'wb').write(b'x' * 9_000_000)");
    expect(listChanges(messages).map((change) => "more" in change && change.more)).toEqual([
      ...[true, false, true, false],
    ]);
    expect(messages.filter(({ type }) => type === "changes").length).toBeGreaterThan(2);
    run("os.remove('a'); os.remove('b')");
  });

  test("interrupts after the timeout", () => {
    const [ran] = run("while True: pass", 50).filter(({ type }) => type === "ran");
    expect(ran).toMatchObject({ timedOut: true, error: expect.stringMatching(/Interrupt$/) });
  });

  test("cannot reach JavaScript, and continues without it", () => {
    for (const name of ["js", "pyodide", "pyodide_js.FS", "_pyodide_core"])
      expect(run(`import ${name}`)[0]).toMatchObject({
        error: expect.stringContaining("the sandbox has no JavaScript"),
      });
    expect(run("import socket\nsocket.socket()")[0]).toMatchObject({
      error: expect.stringContaining("OSError"),
    });
  });

  test("sends images, and limits their number and size", () => {
    const dot = "class Dot:\n  def _repr_png_(self): return b'png'\nDot()";
    expect(run(dot)[0]).toMatchObject({ images: [Buffer.from("png")] });
    const huge = "class Huge:\n  def _repr_png_(self): return b'x' * 13_000_000\nHuge()";
    expect(run(huge)[0]).toMatchObject({ images: [] });
  });

  test("fails when Python exits or calls what is closed", () => {
    expect(() => run("os._exit(3)")).toThrow("closed: ");
  });
});

class NoSpace extends Error {
  constructor(code: number) {
    super(`error ${code}`);
  }
}

function throwNoStat(): never {
  throw new Error("there are no files");
}

describe("Kernel with an odd interpreter", () => {
  const doNothing = () => {};
  const files: PyodideFiles = {
    filesystems: {},
    mkdirTree: doNothing,
    readdir: () => [],
    ErrnoError: NoSpace,
    lstat: throwNoStat,
    isDir: () => false,
    isFile: () => false,
    readFile: () => encodeText(""),
    writeFile: doNothing,
    unlink: doNothing,
    rmdir: doNothing,
  };
  const RUN = { type: "run", code: "", timeoutMs: 5, maxOutputBytes: 9 } as const;

  test("reports an interrupt that hit the code around the cell as an interrupted run", () => {
    const sent: KernelMessage[] = [];
    const kernel = new Kernel(new KernelFiles(files, { diskBytes: 9, maxFiles: 9 }), (one) => {
      sent.push(one);
    });
    const signals = kernel.createSignalBuffer();
    expect(signals[0]).toBe(0);
    const waitForSignal = () => {
      while (signals[0] !== 2);
      signals[0] = 0;
      return null;
    };
    kernel.handle(RUN, { runCell: waitForSignal });
    const interrupted = { error: "KeyboardInterrupt", images: [], timedOut: true };
    expect(sent[0]).toEqual({ type: "ran", ...interrupted });
    expect(() => kernel.handle(RUN, { runCell: () => null })).toThrow("did not answer");
    kernel.handle(RUN, { runCell: () => encodeText("5") });
    expect(sent.at(-3)).toMatchObject({ type: "ran", error: null, images: [] });
  });
});
