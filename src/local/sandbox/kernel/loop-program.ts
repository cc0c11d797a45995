/** The last part of the supervisor: the event loop that connects the host, the children and the measurements. */
export const LOOP_PROGRAM: string = `
# The output of a short run is read at its end, without waking up for it.
SHORT_RUN = 0.002

class Supervisor:
    def __init__(self, config, processes):
        self.config, self.processes = config, processes
        self.host, self.frames = Host(), Frames()
        self.meter, self.idle = Meter(config, self.processes), Idle(self.processes)
        self.ends, self.urgent, self.handlers = select.poll(), select.poll(), {}
        self.interpreter = None
        self.commands = {}
        self.is_running_python = self.interrupted = self.paused = False
        self.reads_output_from = None

    def start(self):
        signals = os.pipe()
        for end in signals:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(signals[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        ignore_stopped_children()
        self.watch(0, self.read_requests)
        self.watch(signals[0], lambda: self.reap(signals[0]))
        # While the host is slow to read, only these are watched.
        for descriptor, events in ((0, select.POLLIN), (signals[0], select.POLLIN), (1, select.POLLOUT)):
            self.urgent.register(descriptor, events)
        self.frames.send(b"r", PYTHON)

    def watch(self, descriptor, handler, events=select.POLLIN):
        self.handlers[descriptor] = handler
        self.ends.register(descriptor, events)

    def unwatch(self, descriptor):
        if self.handlers.pop(descriptor, None):
            self.ends.unregister(descriptor)

    def is_active(self):
        return self.is_running_python or bool(self.commands)

    def loop(self):
        while True:
            ends = self.ends if len(self.frames.queued) < MEBIBYTE else self.urgent
            for descriptor, event in ends.poll(self.wait_milliseconds()):
                handler = self.handlers.get(descriptor)
                if handler is not None:
                    handler()
            self.flush()
            now = time.monotonic()
            if not self.is_active():
                if self.paused and self.processes.known and now >= self.idle.next:
                    self.check_idle(now)
                continue
            if self.reads_output_from is not None and now >= self.reads_output_from:
                self.reads_output_from = None
                for output in self.interpreter.outputs:
                    self.watch(output.reader, output.pump)
            if now >= self.meter.next:
                self.meter.measure(now)

    def flush(self):
        self.frames.flush()
        if self.frames.queued:
            self.watch(1, self.frames.flush, select.POLLOUT)
        else:
            self.unwatch(1)

    def wait_milliseconds(self):
        now = time.monotonic()
        if self.is_active():
            next_time = self.meter.next
            if self.reads_output_from is not None:
                next_time = min(next_time, self.reads_output_from)
        elif self.paused and self.processes.known:
            next_time = self.idle.next
        else:
            return None
        return max(0, 1000 * (next_time - now))

    def check_idle(self, now):
        if self.idle.check(now):
            # A short run may have ended before it was measured.
            self.meter.memory.check(now)

    def read_requests(self):
        for request in self.host.read():
            letter, channel = request[:1], struct.unpack_from(">I", request, 1)[0]
            if letter == b"p":
                self.run_python(request[5:])
            elif letter == b"i":
                self.interrupt()
            elif letter == b"s":
                self.run_command(channel, request[5:])
            elif letter == b"k" and channel == PYTHON:
                self.end_interpreter(-signal.SIGKILL)
            elif letter == b"k" and channel in self.commands:
                self.end_command(self.commands[channel], -signal.SIGKILL)

    def begin_run(self):
        if not self.is_active():
            self.meter.begin_run(time.monotonic())

    def run_python(self, request):
        self.begin_run()
        if self.interpreter is not None and self.interpreter.file_bytes < self.meter.disk.file_bytes():
            # It was started when the disk was full, so it cannot write files.
            self.end_interpreter(0)
        if self.interpreter is None:
            self.interpreter = Interpreter(self)
            self.watch(self.interpreter.replies[0], self.read_replies)
        self.is_running_python = True
        self.reads_output_from = time.monotonic() + SHORT_RUN
        interpreter = self.interpreter
        for output in interpreter.outputs:
            output.left = struct.unpack_from(">I", request)[0] + 1
        interpreter.ticket = os.urandom(16)
        head = struct.pack(">I?", 13 + len(request), self.interrupted)
        interpreter.unsent = memoryview(head + interpreter.ticket + request[4:])
        self.interrupted = False
        # The first part fits into the pipe before the interpreter resumes; the rest needs a reader.
        interpreter.send(select.PIPE_BUF)
        self.resume()
        self.send_rest()

    def send_rest(self):
        self.interpreter.send()
        descriptor = self.interpreter.requests[1]
        if self.interpreter.unsent:
            self.watch(descriptor, self.send_rest, select.POLLOUT)
        else:
            self.unwatch(descriptor)

    def interrupt(self):
        if not self.is_running_python or not self.interpreter.is_ready:
            return
        self.interrupted = True
        signal_each(self.find_python_family(), signal.SIGCONT)
        try:
            os.killpg(self.interpreter.pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    def read_replies(self):
        interpreter = self.interpreter
        for body in interpreter.read_replies():
            if not self.interpreter.is_ready and body == b"ready":
                self.interpreter.is_ready = True
            elif not self.is_running_python or body[:16] != self.interpreter.ticket:
                raise Violation("protocol")
            else:
                self.report_answer(body[16:])
        if not interpreter.is_connected:
            self.unwatch(interpreter.replies[0])

    def report_answer(self, answer):
        if self.may_report_first():
            self.frames.send(b"d", PYTHON, answer)
            self.finish_python()
        else:
            self.finish_python()
            self.frames.send(b"d", PYTHON, answer)

    def may_report_first(self):
        """Whether the host may learn of the end first. The interpreter has written everything: its pipes are not full."""
        is_short = self.reads_output_from is not None
        if self.interrupted or self.commands or not is_short and self.meter.disk.is_suspect():
            return False
        return all([output.pump() < CHUNK for output in self.interpreter.outputs])

    def finish_python(self):
        self.is_running_python = False
        self.reads_output_from = None
        for output in self.interpreter.outputs:
            self.unwatch(output.reader)
        self.pause()
        if self.interrupted:
            signal_each(self.find_python_family() - {self.interpreter.pid}, signal.SIGKILL)
        if self.meter.disk.is_suspect():
            self.meter.count_stopped()
        # Output written after the end was reported is queued for the next run.
        for output in self.interpreter.outputs:
            output.drain()

    def resume(self):
        # Only after a pause: a child that has just stopped itself must stay stopped.
        if self.paused:
            self.paused = False
            signal_all(signal.SIGCONT)

    def pause(self):
        """Stops everything that no run needs. Between runs nothing inside gets processor time, even processes left running."""
        self.paused = True
        if self.commands:
            signal_each(self.find_python_family(), signal.SIGSTOP)
        else:
            signal_all(signal.SIGSTOP)
            self.idle.begin(time.monotonic())

    def run_command(self, channel, request):
        self.begin_run()
        command = self.commands[channel] = Command(self, channel, request)
        self.watch(command.status, lambda: self.end_command(command, command.read_status()))
        for output in command.outputs:
            self.watch(output.reader, output.pump)

    def end_command(self, command, code):
        for descriptor in (command.status, *(output.reader for output in command.outputs)):
            self.unwatch(descriptor)
        self.kill_all(lambda states: self.find_leftovers(command, states))
        signal_each([command.reaper], signal.SIGKILL)
        del self.commands[command.channel]
        if not self.is_active():
            self.pause()
        if self.meter.disk.is_suspect():
            self.meter.count_stopped()
        command.close()
        self.frames.send(b"x", command.channel, json.dumps({"code": code}).encode())

    def end_interpreter(self, code):
        interpreter, self.interpreter = self.interpreter, None
        if interpreter is None:
            return
        for descriptor in (interpreter.replies[0], interpreter.requests[1], *(output.reader for output in interpreter.outputs)):
            self.unwatch(descriptor)
        self.kill_all(self.find_python_family)
        was_running, self.is_running_python = self.is_running_python, False
        self.interrupted, self.reads_output_from = False, None
        interpreter.close()
        if was_running:
            self.frames.send(b"x", PYTHON, json.dumps({"code": code}).encode())

    def find_python_family(self, states=None):
        """All processes that belong to no command: the interpreter's, also those whose parent has ended."""
        states = self.processes.states() if states is None else states
        return set(states) - find_family(states, [command.reaper for command in self.commands.values()])

    def find_leftovers(self, command, states):
        """The processes that a command started. If its reaper was killed, they are among those with no known parent."""
        if command.reaper in states and states[command.reaper][0] not in b"ZX":
            return find_family(states, [command.reaper]) - {command.reaper}
        roots = [command.reaper for command in self.commands.values()]
        if self.interpreter is not None:
            roots.append(self.interpreter.pid)
        return set(states) - find_family(states, roots)

    def kill_all(self, find):
        """Kills the processes that find returns until none is left. They are stopped first, so that none can start others."""
        deadline = time.monotonic() + 5.0
        while True:
            states = self.processes.states()
            alive = [pid for pid in find(states) if states[pid][0] not in b"ZX"]
            if not alive:
                return
            signal_each(alive, signal.SIGSTOP)
            states = self.processes.states()
            signal_each([pid for pid in find(states) if pid in states], signal.SIGKILL)
            self.collect()
            if time.monotonic() > deadline:
                raise Violation("idle")
            time.sleep(0.0005)

    def reap(self, signals):
        try:
            while os.read(signals, 512):
                pass
        except BlockingIOError:
            pass
        self.collect()

    def collect(self):
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if self.interpreter is not None and pid == self.interpreter.pid:
                    self.end_interpreter(os.waitstatus_to_exitcode(status))
        except ChildProcessError:
            pass

    def end(self, violation):
        idle = not self.is_active()
        signal_all(signal.SIGKILL)
        for child in (self.interpreter, *self.commands.values()):
            for output in child.outputs if child is not None else ():
                output.drain()
        if violation == "depth":
            move_all_deep_folders(self.processes)
        os.set_blocking(1, True)
        self.frames.send(b"v", PYTHON, json.dumps({"violation": violation, "idle": idle}).encode())
        os._exit(0)

def main():
    config = json.loads(sys.argv[1])
    # Close any descriptors that the host passed on by accident.
    os.closerange(3, 65536)
    become(config["uid"])
    set_visible(True)
    processes = Processes()
    set_visible(False)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.chdir(DATA)
    os.umask(0o022)
    supervisor = Supervisor(config, processes)
    try:
        supervisor.start()
        supervisor.loop()
    except Violation as violation:
        supervisor.end(str(violation))

main()
`;
