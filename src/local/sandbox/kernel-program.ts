import { LOOP_PROGRAM } from "./kernel-loop.ts";
import { SUPERVISOR_PROGRAM } from "./kernel-supervisor.ts";

/** The interpreter that stays: one namespace for all runs, as in a notebook. */
const KERNEL_PROGRAM = String.raw`
MOST_IMAGES = 20
MOST_IMAGE_BYTES = 12 * 1024 * 1024
LONGEST_TRACEBACK = 100000

def kernel(requests, replies):
    import ast, base64, builtins, io, linecache, traceback, types, warnings
    me = os.getpid()
    streams = (os.dup(1), os.dup(2))
    main_module = types.ModuleType("__main__")
    names = main_module.__dict__
    names["__builtins__"] = builtins
    sys.modules["__main__"] = main_module
    sys.argv = [""]
    sys.path.insert(0, "")
    warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")
    state = {"cell": 0}

    def ignore(number, frame):
        pass

    def read_exactly(size):
        body = b""
        while len(body) < size:
            got = os.read(requests, size - len(body))
            if not got:
                os._exit(0)
            body += got
        return body

    def reply(body):
        pending = memoryview(struct.pack(">I", len(body)) + body)
        while pending:
            pending = pending[os.write(replies, pending):]

    def fresh_streams():
        # Code may have closed or replaced them; the next run prints all the same, and nothing of the last.
        sys.stdout = sys.__stdout__ = sys.stderr = sys.__stderr__ = None
        for stream, kept in enumerate(streams, 1):
            os.dup2(kept, stream)
        def writer(descriptor):
            raw = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
            return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)
        sys.stdout = sys.__stdout__ = writer(1)
        sys.stderr = sys.__stderr__ = writer(2)
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, "r", closefd=False))

    def flush():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except BaseException:
                pass

    def run(code, images):
        state["cell"] += 1
        name = "<cell %d>" % state["cell"]
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            show(eval(compile(ast.Expression(last.value), name, "eval"), names), images)

    def show(value, images):
        if value is None:
            return
        names["_"] = value
        picture = getattr(type(value), "_repr_png_", None)
        png = picture(value) if callable(picture) else None
        if isinstance(png, bytes):
            images.append(png)
        else:
            print(repr(value))

    def figures(images):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            picture = io.BytesIO()
            pyplot.figure(number).savefig(picture, format="png")
            images.append(picture.getvalue())
        pyplot.close("all")

    def describe(problem):
        if isinstance(problem, SystemExit):
            return None if problem.code in (None, 0) else "SystemExit: %s" % (problem.code,)
        trace = problem.__traceback__
        while trace is not None and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        lines = traceback.format_exception(type(problem), problem, trace)
        text = "".join(lines).rstrip("\n")
        return text if len(text) <= LONGEST_TRACEBACK else text[-LONGEST_TRACEBACK:]

    def attempt(work, *arguments):
        """What it raised, in words; nothing of it escapes."""
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                work(*arguments)
            finally:
                signal.signal(signal.SIGINT, ignore)
            return None
        except BaseException as problem:
            try:
                return describe(problem)
            except BaseException:
                return type(problem).__name__

    def answer(ticket, error, images):
        kept, size = [], 0
        for png in images[:MOST_IMAGES]:
            size += len(png)
            if size <= MOST_IMAGE_BYTES:
                kept.append(base64.b64encode(png).decode())
        return ticket + json.dumps({"error": error, "images": kept}).encode()

    signal.signal(signal.SIGINT, ignore)
    reply(b"ready")
    while True:
        size = struct.unpack(">I", read_exactly(4))[0]
        request = json.loads(read_exactly(size))
        fresh_streams()
        if request["reap"]:
            try:
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
            except ChildProcessError:
                pass
        images, ticket = [], bytes.fromhex(request["ticket"])
        error = attempt(run, request["text"], images)
        if os.getpid() != me:
            # A fork came back from the code: it is not the interpreter.
            if error is not None:
                os.write(2, (error + "\n").encode(errors="backslashreplace"))
            flush()
            os._exit(1 if error is not None else 0)
        problem = attempt(figures, images)
        flush()
        reply(answer(ticket, error if error is not None else problem, images))
`;

/** All that runs inside before a model's code does, as one program for `python3 -c`. */
export const SANDBOX_PROGRAM: string = [SUPERVISOR_PROGRAM, KERNEL_PROGRAM, LOOP_PROGRAM].join(
  "\n",
);
