/** The second half of the supervisor: the event loop that connects the host, the child and the resource checks. */
export const LOOP_PROGRAM: string = String.raw`
class Host:
    """Requests from the host: four bytes of length, a letter, and the arguments."""
    def __init__(self):
        self.pending = b""

    def read(self):
        got = os.read(0, CHUNK)
        if not got:
            os._exit(0)
        self.pending += got
        while len(self.pending) >= 4:
            size = struct.unpack(">I", self.pending[:4])[0]
            if len(self.pending) < 4 + size:
                return
            body = self.pending[4:4 + size]
            self.pending = self.pending[4 + size:]
            yield body

class Output:
    """An output stream of the child, limited to the run's maximum."""
    def __init__(self, kind, frames):
        self.kind = kind
        self.frames = frames
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.left = 0

    def pump(self):
        try:
            got = os.read(self.reader, CHUNK)
        except BlockingIOError:
            return 0
        if self.left > 0:
            self.frames.queue(self.kind, got[:self.left])
            self.left -= len(got)
        return len(got)

    def drain(self):
        while self.pump():
            pass

def signal_all(number):
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass

class Supervisor:
    def __init__(self, config):
        self.config = config
        self.host = Host()
        self.frames = Frames()
        self.outputs = [Output(b"o", self.frames), Output(b"e", self.frames)]
        self.requests, self.replies = os.pipe(), os.pipe()
        self.signals = os.pipe()
        self.meter = Meter(config)
        self.running = self.interrupted = self.paused = False
        self.reply = self.ticket = b""
        self.polls_output_from = 0.0
        self.child = 0
        self.status = None

    def start(self):
        for end in self.signals:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.signals[1], warn_on_full_buffer=False)
        set_visible_to_siblings(True)
        self.child = os.fork()
        if self.child == 0:
            self.run_child()
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        ignore_stopped_children()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        set_visible_to_siblings(False)
        os.close(self.requests[0])
        os.close(self.replies[1])

    def run_child(self):
        signal.set_wakeup_fd(-1)
        os.setpgid(0, 0)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        for stream, output in enumerate(self.outputs, 1):
            os.dup2(output.writer, stream)
        mine = (self.requests[0], self.replies[1])
        for end in (null, *self.requests, *self.replies, *self.signals,
                    *(end for output in self.outputs for end in (output.reader, output.writer))):
            if end not in mine:
                os.close(end)
        limit_child(self.config)
        if self.config["mode"] == "python":
            kernel(*mine)
        else:
            shell(*mine)

    def loop(self):
        ends, all_ends = select.poll(), select.poll()
        for descriptor in (0, self.signals[0], self.replies[0]):
            ends.register(descriptor, select.POLLIN)
            all_ends.register(descriptor, select.POLLIN)
        for output in self.outputs:
            all_ends.register(output.reader, select.POLLIN)
        while True:
            # The output of a short run is read at its end, without waking up for it.
            now = time.monotonic()
            if not self.running:
                ready = ends.poll()
            elif now < self.polls_output_from:
                ready = ends.poll(1 + 1000 * (self.polls_output_from - now))
            else:
                self.measure()
                ready = all_ends.poll(1000 * self.meter.poll_seconds())
            for descriptor, event in ready:
                if descriptor == 0:
                    for request in self.host.read():
                        self.handle_request(request)
                elif descriptor == self.signals[0]:
                    self.reap()
                elif descriptor == self.replies[0]:
                    if not self.read_reply():
                        ends.unregister(descriptor)
                        all_ends.unregister(descriptor)
            if self.status is not None:
                self.report_exit()

    def measure(self):
        for output in self.outputs:
            output.pump()
        self.frames.flush()
        self.meter.measure()

    def handle_request(self, request):
        if request[:1] == b"i":
            self.interrupt()
            return
        most = struct.unpack_from(">I", request, 1)[0] + 1
        for output in self.outputs:
            output.left = most
        self.ticket = os.urandom(16)
        head = struct.pack(">I?", 12 + len(request), self.interrupted)
        pending = memoryview(head + self.ticket + request[5:])
        self.running, self.interrupted = True, False
        self.polls_output_from = self.meter.begin_run()
        try:
            # The first part fits into the pipe before the child resumes; the rest needs a reader.
            pending = pending[os.write(self.requests[1], pending[:select.PIPE_BUF]):]
            self.resume()
            while pending:
                pending = pending[os.write(self.requests[1], pending):]
        except BrokenPipeError:
            self.resume()

    def interrupt(self):
        if not self.running:
            return
        self.interrupted = True
        signal_all(signal.SIGCONT)
        try:
            os.killpg(self.child, signal.SIGINT)
        except ProcessLookupError:
            pass

    def read_reply(self):
        got = os.read(self.replies[0], CHUNK)
        self.reply += got
        if len(self.reply) >= 4:
            size = struct.unpack(">I", self.reply[:4])[0]
            if size > LARGEST_FRAME:
                raise Violation("protocol")
            if len(self.reply) >= 4 + size:
                body, self.reply = self.reply[4:4 + size], b""
                self.handle_reply(body)
        return bool(got)

    def handle_reply(self, body):
        if not self.running:
            if body == b"ready":
                self.pause()
                self.frames.send(b"r")
            return
        if body[:16] != self.ticket:
            raise Violation("protocol")
        if not self.may_report_first():
            self.pause()
            self.meter.end_run()
        self.running = False
        self.frames.send(b"d", body[16:])
        self.pause()

    def may_report_first(self):
        """Whether the host may learn of the end first. The child has written everything: its pipes are not full."""
        if self.interrupted or self.meter.needs_count():
            return False
        return all([output.pump() < CHUNK for output in self.outputs])

    def resume(self):
        # Only after a pause: a child that has just stopped itself must stay stopped.
        if self.paused:
            self.paused = False
            signal_all(signal.SIGCONT)

    def pause(self):
        # Between runs nothing inside gets CPU time, even processes left running.
        self.paused = True
        signal_all(signal.SIGSTOP)
        if self.interrupted:
            self.kill_leftovers()
        # Output written after the end was reported is queued for the next run.
        for output in self.outputs:
            output.drain()

    def kill_leftovers(self):
        for pid in processes():
            if pid != self.child:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def reap(self):
        try:
            while os.read(self.signals[0], 512):
                pass
        except BlockingIOError:
            pass
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self.child:
                    self.status = status
        except ChildProcessError:
            pass

    def report_exit(self):
        self.end({"code": os.waitstatus_to_exitcode(self.status)})

    def end(self, why):
        signal_all(signal.SIGKILL)
        for output in self.outputs:
            output.drain()
        if why.get("violation") == "depth":
            move_all_deep_folders()
        self.frames.send(b"x", json.dumps(why).encode())
        os._exit(0)

def shell(requests, replies):
    size = struct.unpack(">I", os.read(requests, 4))[0]
    body = b""
    while len(body) < size:
        body += os.read(requests, size - len(body))
    command = body[17:]
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    program = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    try:
        os.execv(program, [program, "-c", command])
    except (OSError, ValueError) as problem:
        os.write(2, ("%s\n" % problem).encode())
        os._exit(126)

def main():
    config = json.loads(sys.argv[1])
    # Close any descriptors that the host passed on by accident.
    os.closerange(3, 65536)
    become(config["uid"])
    os.chdir(DATA)
    os.umask(0o022)
    supervisor = Supervisor(config)
    try:
        supervisor.start()
        if config["mode"] == "shell":
            supervisor.frames.send(b"r")
        supervisor.loop()
    except Violation as violation:
        supervisor.end({"violation": str(violation)})

main()
`;
