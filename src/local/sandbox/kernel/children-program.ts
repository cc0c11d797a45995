/** The part of the supervisor that starts the interpreter and shell commands. */
export const CHILDREN_PROGRAM: string = String.raw`
class Interpreter:
    """The Python process, and the pipes to it."""
    def __init__(self, supervisor):
        self.requests, self.replies = os.pipe(), os.pipe()
        self.outputs = [Output(kind, PYTHON, supervisor.frames) for kind in (b"o", b"e")]
        self.reply = self.ticket = self.unsent = b""
        self.is_ready, self.is_connected = False, True
        self.file_bytes = supervisor.meter.disk.file_bytes()
        keep = (self.requests[0], self.replies[1])
        self.pid = fork(keep + tuple(output.writer for output in self.outputs))
        if self.pid == 0:
            enter_child(self.outputs)
            limit_child(supervisor.config, self.file_bytes, 0)
            kernel(*keep)
        os.close(self.requests[0])
        os.close(self.replies[1])
        os.set_blocking(self.requests[1], False)

    def send(self, most=CHUNK):
        """Writes as much as fits into the pipe. It never blocks: code can stop the interpreter."""
        try:
            self.unsent = self.unsent[os.write(self.requests[1], self.unsent[:most]):]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.unsent = b""

    def read_replies(self):
        """The whole messages of the interpreter that have arrived."""
        got = os.read(self.replies[0], CHUNK)
        self.is_connected = bool(got)
        self.reply += got
        while len(self.reply) >= 4:
            size = struct.unpack_from(">I", self.reply)[0]
            if size > LARGEST_FRAME:
                raise Violation("protocol")
            if len(self.reply) < 4 + size:
                return
            body, self.reply = self.reply[4:4 + size], self.reply[4 + size:]
            yield body

    def close(self):
        for output in self.outputs:
            output.close()
        os.close(self.requests[1])
        os.close(self.replies[0])

class Command:
    """A shell command. Its parent is a process that adopts what the command leaves behind, so that all of it can be found."""
    def __init__(self, supervisor, channel, request):
        most, cpu_seconds = struct.unpack_from(">II", request)
        self.channel = channel
        self.outputs = [Output(kind, channel, supervisor.frames) for kind in (b"o", b"e")]
        for output in self.outputs:
            output.left = most + 1
        self.status, status = os.pipe()
        self.reaper = fork((status,) + tuple(output.writer for output in self.outputs))
        if self.reaper == 0:
            try:
                limit = lambda: limit_child(supervisor.config, supervisor.meter.disk.file_bytes(), cpu_seconds)
                run_reaper(limit, self.outputs, status, request[8:])
            finally:
                os._exit(1)
        os.close(status)

    def read_status(self):
        """The exit code; as if killed if the parent of the command was killed before it could tell."""
        text = os.read(self.status, 4)
        return struct.unpack(">i", text)[0] if len(text) == 4 else -signal.SIGKILL

    def close(self):
        for output in self.outputs:
            output.close()
        os.close(self.status)

def enter_child(outputs):
    os.setpgid(0, 0)
    for stream, output in enumerate(outputs, 1):
        os.dup2(output.writer, stream)
        os.close(output.writer)

def run_reaper(limit, outputs, status, command):
    libc.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    shell = os.fork()
    if shell == 0:
        os.close(status)
        enter_child(outputs)
        limit()
        start_shell(command)
    for output in outputs:
        os.close(output.writer)
    while True:
        try:
            pid, ending = os.wait()
        except ChildProcessError:
            signal.pause()
            continue
        if pid == shell:
            os.write(status, struct.pack(">i", os.waitstatus_to_exitcode(ending)))

def start_shell(command):
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    program = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    try:
        os.execv(program, [program, "-c", command])
    except (OSError, ValueError) as problem:
        os.write(2, ("%s\n" % problem).encode())
        os._exit(126)
`;
