/** Python code that runs first in the interpreter. It defines a function that returns the function to run one cell. */
export const BOOTSTRAP = `
import ast, base64, linecache, os, sys, time, traceback

os.makedirs("/mnt/data", exist_ok=True)
os.chdir("/mnt/data")
sys.path.insert(0, "/mnt/data")
sys.stdout.reconfigure(line_buffering=True)

def _wink_start():
    main = sys.modules["__main__"].__dict__
    real_sleep, monotonic, count = time.sleep, time.monotonic, 0

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
        return "".join(lines).rstrip("\\n")

    def run(code):
        nonlocal count
        count += 1
        name = f"<cell {count}>"
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
        return (error, images)
    return run
`;
