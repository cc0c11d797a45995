import { lstatSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe } from "vitest";
import { NO_BARRIER } from "../../src/local/sandbox/wasm/barrier.ts";
import { isPyodideInstalled } from "../../src/local/sandbox/wasm/child.ts";
import { encodeFrame } from "../../src/local/sandbox/wasm/frames.ts";
import { type Attack, attempt } from "../support/attacks/attempt.ts";
import { openWasmTarget, type WasmTarget } from "../support/attacks/wasm-target.ts";

const missing = !isPyodideInstalled();
if (missing) process.stderr.write("Skipped: pyodide is not installed (npm install pyodide)\n");

/** Prints `THROUGH` if the object behaves like one of JavaScript. */
const CHECK = `
import gc, importlib, os, sys
def check(what, get):
    try:
        thing = get()
    except BaseException as error:
        return
    if "JsProxy" in type(thing).__name__ or hasattr(thing, "js_id"):
        print("THROUGH", what)
`;

// Without a barrier of the operating system: what the process closes itself must hold alone.
describe.skipIf(missing)(
  "Python in the wasm sandbox, without a barrier",
  { timeout: 120_000 },
  () => {
    let target: WasmTarget;
    beforeAll(async () => {
      target = await openWasmTarget(NO_BARRIER);
    }, 120_000);
    afterAll(() => target?.[Symbol.asyncDispose]());

    /** Declares an attack in Python. It got through if it prints `THROUGH`, or if the next run does not work. */
    function attemptPython(
      attack: Omit<Attack, "surface">,
      code: string,
      { tried = 1, isThrough = () => false as boolean } = {},
    ): void {
      attempt({ surface: "wasm", ...attack }, async () => {
        const run = await target.python(CHECK + code);
        const through = `${run.stdout}\n${run.stderr}`
          .split("\n")
          .filter((l) => l.includes("THROUGH"));
        const next = await target.python("print(6 * 7)");
        if (next.stdout !== "42\n")
          through.push(`the next run printed ${next.stdout}${next.stderr}`);
        if (isThrough()) through.push("an effect outside");
        return { tried, through };
      });
    }

    attemptPython(
      {
        finding: "C1",
        tries:
          "to import JavaScript: js, pyodide_js, pyodide.ffi, _pyodide_core, through every importer",
        shows: "The modules do not exist.",
      },
      `
for name in ("js", "pyodide_js", "pyodide", "pyodide.ffi", "pyodide.code", "pyodide.webloop", "_pyodide", "_pyodide._base", "_pyodide_core"):
    check(name, lambda: importlib.import_module(name))
    check("sys.modules " + name, lambda: sys.modules[name])
    check("builtin " + name, lambda: importlib.machinery.BuiltinImporter.load_module(name))
    check("find_spec " + name, lambda: [finder.find_spec(name, None) for finder in sys.meta_path[1:]][0].loader.load_module(name))
for attribute in ("create_proxy", "create_once_callable", "to_js", "run_js"):
    check("use of " + attribute, lambda: getattr(importlib.machinery.BuiltinImporter.load_module("_pyodide_core"), attribute)({}))
`,
      { tried: 36 },
    );
    attemptPython(
      {
        finding: "C1",
        tries: "to find an object of JavaScript among all objects of Python, and to use it",
        shows: "No living object is a proxy of a JavaScript object.",
      },
      `
for thing in gc.get_objects():
    try:
        if type(thing).__name__ == "JsProxy": print("THROUGH", type(thing))
    except BaseException: pass
`,
    );
    attempt(
      {
        ...{ finding: "C6", surface: "wasm" },
        tries: "to keep running between runs with tasks, timers, finalizers and threads",
        shows: "The process is stopped between runs: it uses no processor time.",
      },
      async () => {
        await target.python(`
import asyncio, atexit, signal, threading, weakref
async def forever():
    while True: await asyncio.sleep(0)
def spin(*_):
    while True: pass
for start in (lambda: asyncio.ensure_future(forever()), lambda: asyncio.get_event_loop().call_later(0, spin),
              lambda: signal.signal(signal.SIGALRM, spin), lambda: signal.setitimer(signal.ITIMER_REAL, 0.01),
              lambda: threading.Timer(0.01, spin).start(), lambda: atexit.register(spin)):
    try: start()
    except BaseException as error: print(type(error).__name__)
`);
        await setTimeout(300);
        const before = target.readProcessorTime();
        await setTimeout(1_000);
        const used = target.readProcessorTime() - before;
        return { tried: 6, through: used > 1 ? [`${used} hundredths of a second`] : [] };
      },
      { skip: process.platform !== "linux" },
    );
    attemptPython(
      {
        finding: "own",
        tries:
          "to make a proxy of JavaScript from bytes, by giving an object the proxy's type in memory",
        shows: "The object has the type, but every use of it ends the interpreter.",
      },
      `
import ctypes
kinds = [t for t in gc.get_objects() if isinstance(t, type) and t.__name__ == "JsProxy"]
class Plain:
    pass
if kinds:
    made = []
    for index in range(64):
        memory = ctypes.create_string_buffer(256)
        address = ctypes.addressof(memory)
        ctypes.c_uint32.from_address(address).value = 1000
        ctypes.c_uint32.from_address(address + 4).value = id(kinds[0])
        for at in range(8, 64, 4): ctypes.c_uint32.from_address(address + at).value = index + 1
        made.append(ctypes.cast(address, ctypes.py_object).value)
        print(getattr(made[-1], "constructor"), "THROUGH")
`,
      { tried: 64 },
    );
    attemptPython(
      {
        finding: "own",
        tries: "to call the interpreter's own imports of JavaScript by name, through ctypes",
        shows: "Calling a closed function ends the interpreter, and its variables are lost.",
      },
      `
import ctypes
main = ctypes.CDLL(None)
for name in ("emscripten_run_script", "emscripten_run_script_int", "emscripten_asm_const_int", "raw_call_js", "emscripten_dlopen"):
    try:
        function = getattr(main, name)
    except AttributeError:
        continue
    print("THROUGH", name, function(0, 0, 0))
`,
      { tried: 5 },
    );
    attemptPython(
      {
        finding: "own",
        tries: "to load its own WebAssembly as an extension module, from a file that it wrote",
        shows: "No module can be loaded from a file: dlopen fails.",
      },
      `
import ctypes
module = bytes.fromhex("0061736d01000000") + bytes.fromhex("000f0864796c696e6b2e3001040000000000")
for name in ("evil.so", "evil.cpython-314-wasm32-emscripten.so"):
    open(name, "wb").write(module)
for load in (lambda: ctypes.CDLL("/mnt/data/evil.so"), lambda: importlib.import_module("evil")):
    try: print("THROUGH", load())
    except (OSError, ImportError, AttributeError): pass
for name in ("evil.so", "evil.cpython-314-wasm32-emscripten.so"): os.remove(name)
`,
      { tried: 2 },
    );
    attemptPython(
      {
        finding: "own",
        tries: "to forge messages to the host by writing to terminals and to every descriptor",
        shows: "The devices lead nowhere: the channel has no descriptor in Python.",
      },
      `
frame = ${JSON.stringify(encodeFrame({ type: "ran", error: "forged", images: [], timedOut: false }).toString("latin1"))}.encode("latin1")
for name in ("tty", "tty1", "stdin", "null"):
    try:
        with open("/dev/" + name, "wb", buffering=0) as device: device.write(frame)
    except OSError: pass
for descriptor in range(3, 64):
    try: os.write(descriptor, frame)
    except OSError: pass
`,
      { tried: 65 },
    );
    attemptPython(
      {
        finding: "own",
        tries:
          "file names that are properties of JavaScript objects: __proto__, constructor, toString",
        shows: "They are ordinary names: files with them are stored, and no prototype changes.",
      },
      `
names = ("__proto__", "constructor", "toString", "hasOwnProperty", "then")
for name in names:
    os.makedirs(name + "/" + name, exist_ok=True)
    open(name + "/polluted", "w").write("1")
if any(hasattr(object, name) for name in ("polluted",)): print("THROUGH")
import shutil
for name in names: shutil.rmtree(name, ignore_errors=True)
`,
      { tried: 5 },
    );
    attemptPython(
      {
        finding: "own",
        tries:
          "device nodes and mounts in its file system: mknod, chroot, setuid, mount through ctypes",
        shows: "Each fails, and the next run works.",
      },
      `
import ctypes
for action in (lambda: os.mknod("dev", 0o20666, 0x500), lambda: os.mknod("disk", 0o60666, 1), lambda: os.chroot("/"),
               lambda: os.kill(1, 9), lambda: os.setuid(0) or 1 / 0, lambda: ctypes.CDLL(None).mount(0, 0, 0, 0, 0) and 1 / 0):
    try:
        if action() is None: print("THROUGH")
    except BaseException: pass
`,
      { tried: 6 },
    );
    attemptPython(
      {
        finding: "own",
        tries:
          "to replace json, builtins and the streams that the host's code around the cell uses",
        shows: "At most the run has no answer and the interpreter ends; the next run works.",
      },
      `
import builtins, json, traceback
json.dumps = lambda *a, **k: "THROUGH" * 10
sys.stdout = sys.stderr = None
builtins.compile, builtins.print = None, None
traceback.TracebackException = None
raise ValueError("x")
`,
      { tried: 6 },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries:
          "to replace, in the closure of the function that runs a cell, what writes its answer: 60 MB of error",
        shows: "The error is cut to 100,000 characters before it leaves the process.",
      },
      async () => {
        const { error, died } = await target.python(`import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "function" and thing.__qualname__ == "_wink_start.<locals>.run":
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__):
            if name == "dumps": cell.cell_contents = lambda answer: '{"error": "' + "x" * 60_000_000 + '"}'
`);
        await target.python("import os\nos._exit(1)");
        const held = died || error?.length === 100_000;
        return { through: held ? [] : [String(error?.length)] };
      },
    );
    attemptPython(
      {
        finding: "own",
        tries: "bytecode that reads beyond its variables, to get at memory without ctypes",
        shows: "It reads WebAssembly's memory at most, and at worst loses the interpreter.",
      },
      `
def victim(): return 1
for index in (5, 50, 200):
    code = bytes([128, 0, 84, index, 35, 0])
    try: print(type(type(victim)(victim.__code__.replace(co_code=code), {})()))
    except BaseException: pass
`,
      { tried: 3 },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries:
          "to learn about the host: environment, arguments, paths, user, time zone files, /proc and /sys",
        shows: "Python sees its own file system; no path, name or variable of the host is in it.",
      },
      async () => {
        const { stdout } = await target.python(`import os, sys, platform, getpass
print(dict(os.environ), sys.argv, sys.path, sys.executable, os.listdir("/"), platform.uname())
for path in ("/proc/self/environ", "/proc/self/cmdline", "/sys", "/etc/hostname", "/home", "/root"):
    try: print(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError: pass
`);
        const secrets = [process.cwd(), hostname(), "NODE_OPTIONS", "VITEST", process.execPath];
        return { tried: 12, through: secrets.filter((secret) => stdout.includes(secret)) };
      },
    );
    attemptPython(
      {
        finding: "own",
        tries: "an exception whose text has 50 MB, and one that raises while it is printed",
        shows:
          "The traceback is cut to 100,000 characters, and a broken one does not stop the answer.",
      },
      `
class Bad(Exception):
    def __str__(self): raise SystemExit(3)
try:
    raise Bad()
except Bad: pass
raise ValueError("x" * 50_000_000)
`,
      { tried: 2 },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries: "an image of 60 MB, 200 images, and an image that is not bytes",
        shows: "At most 20 images and 12 MiB of them leave the process.",
      },
      async () => {
        const dot = (bytes: string) => `class Dot:\n  def _repr_png_(self): return ${bytes}\nDot()`;
        const runs = [
          await target.python(dot("b'x' * 30_000_000")),
          await target.python(dot("'text'")),
          await target.python(dot("bytearray(b'x')")),
        ];
        const sizes = runs.map(({ images }) => images.reduce((sum, i) => sum + i.base64.length, 0));
        return { tried: 3, through: sizes.filter((size) => size > 0).map(String) };
      },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries: "a single print of 60 MB, and a million prints",
        shows: "The host keeps maxOutputBytes of each stream.",
      },
      async () => {
        const runs = [
          await target.python("print('x' * 60_000_000)"),
          await target.python(
            "import sys\nfor _ in range(200_000): sys.stderr.write('xxxxxxxxxx')",
          ),
        ];
        const through = runs.filter((run) => run.stdout.length + run.stderr.length > 20_000);
        return { tried: 2, through: through.map((run) => String(run.stdout.length)) };
      },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries: "a sparse file of 10 GiB, a file grown by seek, and a link to itself",
        shows: "Sizes count as if they were written: the file system reports that it is full.",
      },
      async () => {
        const { stdout } = await target.python(`
import os
for action in (lambda: os.truncate("big", 10 * 2**30), lambda: (f := open("seek", "wb"), f.seek(2**31), f.write(b"x"), f.flush())):
    open("big", "w").close()
    try: action(); print("THROUGH")
    except (OSError, MemoryError, OverflowError): pass
try: os.symlink("loop", "loop"); open("loop").read(); print("THROUGH")
except OSError: pass
for name in os.listdir("."): os.remove(name)
`);
        const size = readdirSync(target.root)
          .map((name) => lstatSync(join(target.root, name)).size)
          .reduce((sum, bytes) => sum + bytes, 0);
        const through = stdout.includes("THROUGH") ? [stdout] : [];
        return { tried: 3, through: size > 32 * 2 ** 20 ? [...through, String(size)] : through };
      },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries: "folders nested 3,000 levels deep",
        shows:
          "Folders below level 100 are not stored, and the run ends in time; the next run works.",
      },
      async () => {
        const started = Date.now();
        await target.python(
          "import os\nfor _ in range(3000):\n  os.mkdir('d'); os.chdir('d')\nos.chdir('/mnt/data')",
          { timeoutMs: 5_000 },
        );
        const seconds = (Date.now() - started) / 1_000;
        const next = await target.python("print(6 * 7)");
        await target.python("import os\nos.rename('d', '/tmp/d')");
        const through = next.stdout === "42\n" ? [] : [next.stderr];
        return { through: seconds < 20 ? through : [...through, `the run took ${seconds} s`] };
      },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries:
          "memory outside Python's: thousands of callbacks of ctypes, each compiled to WebAssembly",
        shows: "The process is killed at its memory limit, or the callbacks fit.",
      },
      async () => {
        const started = Date.now();
        await target.python(
          "import ctypes\nkept = [ctypes.CFUNCTYPE(None)(lambda: None) for _ in range(20000)]",
          { timeoutMs: 15_000 },
        );
        const next = await target.python("print(6 * 7)");
        const seconds = (Date.now() - started) / 1_000;
        return { through: next.stdout === "42\n" && seconds < 100 ? [] : [next.stderr] };
      },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm" },
        tries: "names that are no names on the host: .., slashes, 300 characters, lone surrogates",
        shows:
          "Nothing is written outside the folder, and the run reports the files that were not stored.",
      },
      async () => {
        await target.python(
          "import os\nfor name in ('..', '../up', '/mnt/up', 'x' * 300, '\\udcff', 'a' + chr(92) + 'b'):\n" +
            "  try: open(name, 'w').write('1')\n  except OSError: pass",
        );
        const outside = readdirSync(dirname(target.root)).filter((name) => name !== "data");
        await target.python("import os\nfor name in os.listdir('.'): os.remove(name)");
        return { tried: 6, through: outside };
      },
    );
  },
);
