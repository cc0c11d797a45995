/**
 * The first process inside every bubblewrap sandbox, in Python. It drops its privileges, starts the
 * interpreter or the shell as its only child, forwards its output in frames, and measures memory, disk
 * and processes from inside, where it sees only the sandbox. Any error here ends it, and since it is
 * process 1, all other processes in the sandbox then end too.
 */
export const SUPERVISOR_PROGRAM: string = `
import ctypes, json, os, resource, select, signal, stat, struct, sys, time

DATA = "/mnt/data"
CHUNK = 65536
LARGEST_FRAME = 24 * 1024 * 1024
MOST_TEMPORARY_ENTRIES = 32768
DEEPEST_FOLDER = 400
SMALLEST_ENTRY = 4096
PAGE = resource.getpagesize()
libc = ctypes.CDLL(None, use_errno=True)

class Violation(Exception):
    pass

class Frames:
    """Messages to the host. Queued frames are written together, to notify the host only once."""
    def __init__(self):
        self.queued = bytearray()

    def queue(self, kind, payload=b""):
        self.queued += kind + struct.pack(">I", len(payload)) + payload

    def flush(self):
        pending = memoryview(self.queued)
        while pending:
            pending = pending[os.write(1, pending):]
        self.queued = bytearray()

    def send(self, kind, payload=b""):
        self.queue(kind, payload)
        self.flush()

def become(uid):
    if uid is None:
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # Changing the user cleared the parent-death signal.
    libc.prctl(1, signal.SIGKILL)

def set_visible_to_siblings(yes):
    # While hidden, no process of the same user can trace this one or read its memory.
    libc.prctl(4, 1 if yes else 0)

class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128),
                ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]

def ignore_stopped_children():
    """Sets SA_NOCLDSTOP. The supervisor stops and continues the child itself; each SIGCHLD for that would interrupt it twice per run."""
    action = Action()
    libc.sigaction(signal.SIGCHLD, None, ctypes.byref(action))
    # Python sets SA_ONSTACK. If that flag is missing, the structure has another layout and stays unchanged.
    if action.flags & 0x08000000:
        action.flags |= 1
        libc.sigaction(signal.SIGCHLD, ctypes.byref(action), None)

def limit_child(config):
    def set_limit(which, value):
        resource.setrlimit(which, (value, value))
    set_limit(resource.RLIMIT_AS, config["memory"])
    set_limit(resource.RLIMIT_FSIZE, config["disk"])
    set_limit(resource.RLIMIT_NPROC, config["processes"])
    set_limit(resource.RLIMIT_NOFILE, min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    set_limit(resource.RLIMIT_CORE, 0)
    set_limit(resource.RLIMIT_MSGQUEUE, 0)
    if config["cpuSeconds"] is not None:
        set_limit(resource.RLIMIT_CPU, config["cpuSeconds"])

def processes():
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            yield int(name)

def proportional_memory(pid):
    with open("/proc/%d/smaps_rollup" % pid) as rollup:
        for line in rollup:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0

def resident_memory(pid):
    with open("/proc/%d/statm" % pid) as counts:
        return int(counts.read().split()[1]) * PAGE

def sum_over_processes(measure):
    total = 0
    for pid in processes():
        try:
            total += measure(pid)
        except OSError:
            pass
    return total

def check_memory(limit):
    # Only the slower measure counts memory shared by forks once.
    if sum_over_processes(resident_memory) > limit and sum_over_processes(proportional_memory) > limit:
        raise Violation("memory")

def check_temporary():
    for folder in ("/tmp", "/dev/shm"):
        space = os.statvfs(folder)
        if space.f_files - space.f_ffree > MOST_TEMPORARY_ENTRIES:
            raise Violation("temporary")

def open_folder(parent, name):
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=parent)
    except PermissionError:
        pass
    except OSError:
        return None
    # Reopen a folder that its owner made unreadable, so that nothing escapes the count.
    try:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod("/proc/self/fd/%d" % handle, 0o700)
        finally:
            os.close(handle)
        return os.open(name, flags, dir_fd=parent)
    except OSError:
        return None

def measure_tree():
    """Yields None now and then so that output is not delayed, and finally the sum."""
    total = seen = 0
    top = os.open(DATA, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack = [(top, os.scandir(top))]
    try:
        while stack:
            folder, entries = stack[-1]
            entry = next(entries, None)
            if entry is None:
                stack.pop()
                entries.close()
                os.close(folder)
                continue
            seen += 1
            if seen % 1000 == 0:
                yield None
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            size = max(facts.st_size, facts.st_blocks * 512, SMALLEST_ENTRY)
            total += size // max(1, facts.st_nlink) if stat.S_ISREG(facts.st_mode) else size
            if stat.S_ISDIR(facts.st_mode):
                if len(stack) >= DEEPEST_FOLDER:
                    move_to_top(folder, entry.name)
                    raise Violation("depth")
                inner = open_folder(folder, entry.name)
                if inner is not None:
                    stack.append((inner, os.scandir(inner)))
        for size in measure_deleted_files():
            if size is None:
                yield None
            else:
                total += size
        yield total
    finally:
        for folder, entries in stack:
            entries.close()
            os.close(folder)

def move_to_top(folder, name):
    """Moves a folder that is too deep to be counted to the top, where it can be counted and removed."""
    try:
        os.rename(name, "%s/too-deep-%s" % (DATA, os.urandom(4).hex()), src_dir_fd=folder)
    except OSError:
        pass

def move_all_deep_folders():
    for attempt in range(1000):
        try:
            for total in measure_tree():
                pass
            return
        except Violation:
            pass

def measure_deleted_files():
    """Sizes of deleted files, which still use the disk while a process has them open."""
    device = os.stat(DATA).st_dev
    seen = set()
    for pid in list(processes()):
        folder = "/proc/%d/fd" % pid
        try:
            names = os.listdir(folder)
        except PermissionError:
            # It made itself unreadable, so its open files cannot be counted.
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            continue
        except OSError:
            continue
        for name in names:
            try:
                facts = os.stat(folder + "/" + name)
            except OSError:
                continue
            if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 0 and facts.st_dev == device:
                if facts.st_ino not in seen:
                    seen.add(facts.st_ino)
                    yield max(facts.st_size, facts.st_blocks * 512)
        yield None

class Meter:
    """Measures the sandbox's resources; the longer a measurement takes, the less often."""
    def __init__(self, config):
        self.memory = config["memory"]
        self.disk = config["disk"]
        self.full = config["full"]
        self.walk = self.allowed = None
        self.began = self.last = self.next_disk = self.next_memory = 0.0

    def begin_run(self):
        """Returns the time until which nothing has to be measured."""
        now = time.monotonic()
        self.allowed = None if self.full else self.disk
        self.next_memory = self.next_disk = now + 0.02
        return now + 0.002

    def measure(self):
        now = time.monotonic()
        if now >= self.next_memory:
            self.next_memory = now + 0.05
            check_memory(self.memory)
            check_temporary()
        if self.walk is None and now >= self.next_disk:
            self.walk, self.began = measure_tree(), now
        if self.walk is not None:
            self.step()

    def step(self):
        total = next(self.walk)
        if total is None:
            return
        self.walk, self.last = None, time.monotonic()
        self.next_disk = self.last + min(2.0, max(0.05, 5 * (self.last - self.began)))
        self.full = total > self.disk
        if self.allowed is None:
            # A run that starts above the limit may delete files, but not grow.
            self.allowed = max(self.disk, total)
        if total > self.allowed:
            raise Violation("disk")

    def needs_count(self):
        return self.walk is not None or time.monotonic() - self.last >= 1.0

    def end_run(self):
        if self.walk is None:
            self.walk = measure_tree()
        while self.walk is not None:
            self.step()

    def poll_seconds(self):
        return 0 if self.walk is not None else 0.02
`;
