/** The persistent interpreter: one namespace for all runs, as in a notebook. */
export const KERNEL_PROGRAM: string = String.raw`
MOST_IMAGES = 20
MOST_IMAGE_BYTES = 12 * 1024 * 1024
LONGEST_TRACEBACK = 100000
MOST_SWITCHES = 10000
EMPTY_ANSWER = b'{"error": null, "images": []}'
STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
OUTPUTS = ("stdout", "stderr", "__stdout__", "__stderr__")

def kernel(requests, replies):
    import _ast, _signal, binascii, builtins, io, linecache, traceback, types, warnings
    me = os.getpid()
    streams = (os.dup(1), os.dup(2))
    main_module = types.ModuleType("__main__")
    names = main_module.__dict__
    names["__builtins__"] = builtins
    sys.modules["__main__"] = main_module
    sys.argv = [""]
    sys.path.insert(0, "")
    warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")
    state = {"cell": 0, "stream": None}
    mine = {}
    # Bytes written to stdout, then to stderr, then to stdout again, and so on.
    order = []

    def ignore(number, frame):
        pass

    # Used four times in every run: skip the enum wrappers of the signal module.
    on_interrupt, raise_interrupt, interrupt = _signal.signal, _signal.default_int_handler, int(_signal.SIGINT)

    def read_request():
        body, size = b"", 4
        while len(body) < size:
            got = os.read(requests, CHUNK)
            if not got:
                os._exit(0)
            body += got
            if len(body) >= 4:
                size = 4 + struct.unpack_from(">I", body)[0]
        return body[4:]

    def reply(body):
        pending = memoryview(struct.pack(">I", len(body)) + body)
        while pending:
            pending = pending[os.write(replies, pending):]

    def restore_streams(clean):
        # Code may have closed or replaced the streams. The next run must still print, and only its own output.
        keep = clean and are_unchanged()
        if not keep:
            mine.clear()
            for name in STREAMS:
                setattr(sys, name, None)
        for stream, kept in enumerate(streams, 1):
            os.dup2(kept, stream)
        if not keep:
            opened = (io.TextIOWrapper(io.FileIO(0, "r", closefd=False)), writer(1), writer(2))
            mine.update(zip(STREAMS, opened + opened))
            for name, stream in mine.items():
                setattr(sys, name, stream)

    class Counted(io.FileIO):
        """Counts the bytes written, so that the host can join both streams in the order of printing."""
        def write(self, data, write=io.FileIO.write):
            size = write(self, data)
            if state["stream"] is not self:
                switch(self)
            order[-1] += size
            return size

    def switch(stream):
        state["stream"] = stream
        if len(order) >= MOST_SWITCHES:
            # The counts no longer add up, so the host only learns which stream is last.
            order.clear()
        if not order and stream.fileno() == 2:
            order.append(0)
        order.append(0)

    def writer(descriptor):
        raw = io.BufferedWriter(Counted(descriptor, "w", closefd=False))
        return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)

    def are_unchanged():
        try:
            return all([getattr(sys, name) is stream and not stream.closed for name, stream in mine.items()])
        except BaseException:
            return False

    def flush():
        """Whether all output was written."""
        clean = True
        for name in OUTPUTS:
            try:
                getattr(sys, name).flush()
            except BaseException:
                clean = False
        return clean

    def run(code, images):
        state["cell"] += 1
        name = "<cell %d>" % state["cell"]
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        if "\n" not in code and not code[:1].isspace():
            try:
                alone = compile(code, name, "eval")
            except SyntaxError:
                # Not an expression. The code below runs it or reports the error.
                pass
            else:
                show(eval(alone, names), images)
                return
        tree = compile(code, name, "exec", _ast.PyCF_ONLY_AST)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            show(eval(compile(_ast.Expression(last.value), name, "eval"), names), images)

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
        half = LONGEST_TRACEBACK // 2
        return text if len(text) <= LONGEST_TRACEBACK else text[:half] + text[-half:]

    def attempt(work, *arguments):
        """Returns a description of the exception, or None. Never raises."""
        try:
            try:
                on_interrupt(interrupt, raise_interrupt)
                work(*arguments)
            finally:
                on_interrupt(interrupt, ignore)
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
                kept.append(binascii.b2a_base64(png, newline=False).decode())
        if error is None and not kept and len(order) < 2:
            return ticket + EMPTY_ANSWER
        return ticket + json.dumps({"error": error, "images": kept, "order": order}).encode()

    on_interrupt(interrupt, ignore)
    reply(b"ready")
    clean = False
    while True:
        # Right away, while the last answer is in transit.
        restore_streams(clean)
        request = read_request()
        if request[0]:
            try:
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
            except ChildProcessError:
                pass
        images, ticket = [], request[1:17]
        order.clear()
        state["stream"] = None
        error = attempt(run, request[17:].decode(), images)
        if os.getpid() != me:
            # A forked process returned from the code: it is not the interpreter.
            if error is not None:
                os.write(2, (error + "\n").encode(errors="backslashreplace"))
            flush()
            os._exit(1 if error is not None else 0)
        problem = attempt(figures, images)
        clean = flush()
        reply(answer(ticket, error if error is not None else problem, images))
`;
