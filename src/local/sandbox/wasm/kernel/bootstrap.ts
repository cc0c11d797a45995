/**
 * Python code that runs first in the interpreter. It removes Pyodide's access to JavaScript, and defines a function
 * that returns the function to run one cell.
 */
export const BOOTSTRAP = `
import ast, asyncio, base64, gc, json, linecache, os, sys, time, traceback

os.makedirs("/mnt/data", exist_ok=True)
os.chdir("/mnt/data")
sys.path.insert(0, "/mnt/data")
sys.stdout.reconfigure(line_buffering=True)

def _wink_start():
    main = sys.modules["__main__"].__dict__
    monotonic, dumps, count = time.monotonic, json.dumps, 0
    # Pyodide's own sleep asks JavaScript first.
    real_sleep = getattr(time.sleep, "__wrapped__", time.sleep)

    # The real sleep cannot be interrupted, so sleep in short intervals.
    def sleep(seconds, /):
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            real_sleep(min(left, 0.02))
    time.sleep = sleep

    # The real system() asks Node for a process, is denied, and crashes the interpreter.
    def system(command):
        print("There is no shell in the wasm sandbox.", file=sys.stderr)
        return 127 << 8
    os.system = system

    # Pyodide's event loop runs on the one of JavaScript. This one runs only inside asyncio.run().
    class Selector:
        def select(self, timeout):
            if timeout is None:
                raise RuntimeError("The event loop would wait forever: nothing is scheduled.")
            sleep(max(0, timeout))
            return []

        def close(self):
            pass

    class Loop(asyncio.base_events.BaseEventLoop):
        _selector = Selector()

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):
        _loop_factory = Loop

    class NoJavaScript:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] in NAMES:
                raise ModuleNotFoundError(f"No module named {name!r}: the sandbox has no JavaScript", name=name)

    NAMES = ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core")
    asyncio.run = getattr(asyncio.run, "__wrapped__", asyncio.run)
    asyncio.events._set_running_loop(None)
    asyncio.events._set_event_loop_policy(Policy())
    sys.meta_path[:] = [NoJavaScript] + [
        finder for finder in sys.meta_path if "pyodide" not in type(finder).__module__ + getattr(finder, "__module__", "")]

    # Takes the objects of JavaScript away from Python. Pyodide's own functions cannot run afterwards.
    def forget_javascript():
        for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
            module = sys.modules.pop(name)
            if type(module) is type(sys):
                vars(module).clear()
        gc.collect()

    def find_images(value):
        png = getattr(type(value), "_repr_png_", None)
        data = png(value) if png else None
        return [base64.b64encode(data).decode()] if isinstance(data, bytes) else []

    def show(value):
        main["_"] = value
        images = find_images(value)
        if not images:
            print(repr(value))
        return images

    def run_cell(code, name):
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec"), main)
        if last is not None:
            value = eval(compile(last, name, "eval"), main)
            if value is not None:
                return show(value)
        return []

    def format_error(error):
        if isinstance(error, SystemExit):
            return None if error.code in (None, 0) else f"SystemExit: {error.code}"
        report = traceback.TracebackException.from_exception(error)
        frames = [frame for frame in report.stack if frame.filename != "<wink>"]
        report.stack = traceback.StackSummary.from_list(frames)
        lines = list(report.format())
        if not frames and lines[0].startswith("Traceback"):
            del lines[0]
        text = "".join(lines).rstrip("\\n")
        return text if len(text) <= 100000 else text[:50000] + text[-50000:]

    def run(code):
        nonlocal count
        if count == 0:
            forget_javascript()
        count += 1
        name = f"<cell {count - 1}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            images, error = run_cell(code, name), None
        except BaseException as raised:
            images, error = [], format_error(raised)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        return dumps({"error": error, "images": images}).encode()
    return run
`;
