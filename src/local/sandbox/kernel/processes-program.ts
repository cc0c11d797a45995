/** The part of the supervisor that reads what `/proc` tells about the sandbox's processes. */
export const PROCESSES_PROGRAM: string = String.raw`
def open_proc(path):
    """Opens a file of /proc, or returns None if its process has ended. A process that hides is a violation."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as problem:
        return explain_unreadable(problem, path)

def explain_unreadable(problem, path):
    # A process that ends releases its memory and files first. Its entry in /proc then belongs to root.
    if problem.errno in NOT_THERE or problem.errno == errno.EACCES and has_ended(path.split("/")[2]):
        return None
    raise Violation("hidden") from problem

EXITING = 4  # a flag of the kernel

def has_ended(pid):
    try:
        handle = os.open("/proc/%s/stat" % pid, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(handle, 4096)
        finally:
            os.close(handle)
        fields = text[text.rindex(b")") + 2:].split()
        return fields[0] in b"ZX" or bool(int(fields[6]) & EXITING)
    except OSError as problem:
        return problem.errno in NOT_THERE

def read_all(path):
    handle = open_proc(path)
    if handle is None:
        return None
    try:
        parts = []
        while True:
            part = os.read(handle, CHUNK)
            if not part:
                return b"".join(parts)
            parts.append(part)
    except OSError as problem:
        return explain_unreadable(problem, path)
    finally:
        os.close(handle)

def list_proc(path):
    try:
        return os.listdir(path)
    except OSError as problem:
        return explain_unreadable(problem, path) or ()

def find_status(path):
    try:
        return os.stat(path)
    except OSError as problem:
        return explain_unreadable(problem, path)

class Process:
    """One process. Reading its open files again costs a tenth of opening them, and they never refer to another process."""
    def __init__(self, pid):
        self.pid = pid
        self.files = {}
        self.headless = None

    def read(self, name):
        handle, path = self.files.get(name), "/proc/%d/%s" % (self.pid, name)
        try:
            if handle is None:
                handle = self.files[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(handle, 4096, 0)
        except OSError as problem:
            return explain_unreadable(problem, path)

    def close(self):
        for handle in self.files.values():
            os.close(handle)

    def resident(self):
        """Bytes of memory, shared ones included; None if it has ended."""
        text = self.read("status" if HAS_SWAP else "statm")
        if text is None:
            return None
        if HAS_SWAP and b"VmRSS:" in text:
            return 1024 * sum(int(line.split()[1]) for line in text.split(b"\n") if line.startswith((b"VmRSS:", b"VmSwap:")))
        if HAS_SWAP:
            return self.resident_without_leader()
        size, pages = text.split(None, 2)[:2]
        return self.resident_without_leader() if size == b"0" else int(pages) * PAGE

    def resident_without_leader(self):
        """The first thread of a process can end before the others; then /proc shows no memory and no files of the process."""
        most = 0
        threads = list_proc("/proc/%d/task" % self.pid)
        for thread in threads:
            text = read_all("/proc/%d/task/%s/statm" % (self.pid, thread))
            most = max(most, int((text or b"0 0").split()[1]) * PAGE)
        self.check_leader(len(threads))
        return most

    def check_leader(self, threads):
        # This is also seen for a moment when a process with threads ends.
        if threads < 2:
            self.headless = None
            return
        now = time.monotonic()
        self.headless = self.headless or now
        if now - self.headless > 0.25:
            raise Violation("hidden")

    def written(self):
        text = self.read("io")
        if text is None:
            return None
        return int(text[text.index(b"\nwrite_bytes: ") + 14:].split(None, 1)[0])

    def state(self):
        """Its state letter, parent and used processor time; None if it has ended."""
        text = self.read("stat")
        if text is None:
            return None
        fields = text[text.rindex(b")") + 2:].split()
        if fields[0] in b"ZX":
            self.check_leader(len(list_proc("/proc/%d/task" % self.pid)))
        return fields[0], int(fields[1]), int(fields[11]) + int(fields[12])

def has_swap():
    text = read_all("/proc/swaps")
    return text is not None and text.count(b"\n") > 1

HAS_SWAP = has_swap()

class Processes:
    """All processes except this one."""
    def __init__(self):
        self.known = {}
        self.newest = None
        self.load = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        # Only possible while this process is visible.
        self.own = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)
        self.written_before = 0

    def refresh(self):
        # The last field is the number of the newest process: without a new one, there is nothing to list.
        newest = os.pread(self.load, 100, 0).split()[-1]
        if newest != self.newest:
            self.newest = newest
            found = {int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"}
            for pid in [pid for pid in self.known if pid not in found]:
                self.known.pop(pid).close()
            for pid in found:
                if pid not in self.known:
                    self.known[pid] = Process(pid)
        return list(self.known.values())

    def measure(self, read):
        """Yields each process that has not ended, with the result of read."""
        for process in self.refresh():
            value = read(process)
            if value is not None:
                yield process, value
            elif process.state() is None:
                self.known.pop(process.pid).close()
                # Its number may already belong to another process.
                self.newest = None

    def states(self):
        return {process.pid: state for process, state in self.measure(Process.state)}

    def resident(self):
        return sum(size for process, size in self.measure(Process.resident))

    def written(self):
        """Bytes written to disks so far. The count of an ended process is added to the process that waited for it."""
        text = os.pread(self.own, 4096, 0)
        own = int(text[text.index(b"\nwrite_bytes: ") + 14:].split(None, 1)[0])
        total = own + sum(size for process, size in self.measure(Process.written))
        self.written_before = max(self.written_before, total)
        return self.written_before

    def while_stopped(self, work):
        """Runs work while all processes are stopped, so that nothing grows in that time."""
        stopped = {pid for pid, state in self.states().items() if state[0] in b"Tt"}
        signal_all(signal.SIGSTOP)
        work()
        # Includes processes that started just before.
        signal_each(set(self.states()) - stopped, signal.SIGCONT)

    def threads(self):
        """Yields the folder in /proc of every thread: each may have its own open files."""
        for process in self.refresh():
            for thread in list_proc("/proc/%d/task" % process.pid):
                yield "/proc/%d/task/%s" % (process.pid, thread)

def find_family(states, roots):
    """The processes that descend from roots, and roots themselves."""
    children = {}
    for pid, (letter, parent, ticks) in states.items():
        children.setdefault(parent, []).append(pid)
    family, pending = set(), [pid for pid in roots if pid in states]
    while pending:
        pid = pending.pop()
        if pid not in family:
            family.add(pid)
            pending += children.get(pid, ())
    return family
`;
