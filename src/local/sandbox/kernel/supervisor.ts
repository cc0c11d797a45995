/**
 * The first process inside every bubblewrap sandbox, in Python. It gives up its rights, starts the
 * interpreter or the shell as its one child, passes its output on in frames, and watches memory,
 * disk and processes from inside, where nothing but the sandbox can be seen. Whatever goes wrong
 * here ends it, and as it is process 1, everything else in the sandbox ends with it.
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
    """What the host is told. What there is at one time goes in one piece, and wakes it once."""
    def __init__(self):
        self.held = bytearray()

    def hold(self, kind, payload=b""):
        self.held += kind + struct.pack(">I", len(payload)) + payload

    def release(self):
        pending = memoryview(self.held)
        while pending:
            pending = pending[os.write(1, pending):]
        self.held = bytearray()

    def send(self, kind, payload=b""):
        self.hold(kind, payload)
        self.release()

def become(uid):
    if uid is None:
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # The change of user took the promise to die with the parent away.
    libc.prctl(1, signal.SIGKILL)

def visible_to_siblings(yes):
    # Hidden, nobody of the same user may trace this process or read its memory.
    libc.prctl(4, 1 if yes else 0)

class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128),
                ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]

def hear_of_ends_alone():
    """A child that stops or goes on does so by our own doing: word of it would wake us twice in every run."""
    action = Action()
    libc.sigaction(signal.SIGCHLD, None, ctypes.byref(action))
    # Python sets SA_ONSTACK. Where it is not found the fields lie elsewhere, and stay as they are.
    if action.flags & 0x08000000:
        action.flags |= 1
        libc.sigaction(signal.SIGCHLD, ctypes.byref(action), None)

def limit_child(config):
    def both(which, value):
        resource.setrlimit(which, (value, value))
    both(resource.RLIMIT_AS, config["memory"])
    both(resource.RLIMIT_FSIZE, config["disk"])
    both(resource.RLIMIT_NPROC, config["processes"])
    both(resource.RLIMIT_NOFILE, min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    both(resource.RLIMIT_CORE, 0)
    both(resource.RLIMIT_MSGQUEUE, 0)
    if config["cpuSeconds"] is not None:
        both(resource.RLIMIT_CPU, config["cpuSeconds"])

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
    # What forks share is counted once only by the slower measure.
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
    # A folder closed by its owner is opened again: nothing hides from the count.
    try:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod("/proc/self/fd/%d" % handle, 0o700)
        finally:
            os.close(handle)
        return os.open(name, flags, dir_fd=parent)
    except OSError:
        return None

def tree_bytes():
    """Yields None now and then, so that output is not kept waiting, and the sum at last."""
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
                    lift(folder, entry.name)
                    raise Violation("depth")
                inner = open_folder(folder, entry.name)
                if inner is not None:
                    stack.append((inner, os.scandir(inner)))
        for size in deleted_bytes():
            if size is None:
                yield None
            else:
                total += size
        yield total
    finally:
        for folder, entries in stack:
            entries.close()
            os.close(folder)

def lift(folder, name):
    """Too deep to be counted: it goes to the top, where it can be, and can be removed."""
    try:
        os.rename(name, "%s/too-deep-%s" % (DATA, os.urandom(4).hex()), src_dir_fd=folder)
    except OSError:
        pass

def lift_all():
    for attempt in range(1000):
        try:
            for total in tree_bytes():
                pass
            return
        except Violation:
            pass

def deleted_bytes():
    """Files without a name still fill the disk while somebody holds them open."""
    device = os.stat(DATA).st_dev
    seen = set()
    for pid in list(processes()):
        folder = "/proc/%d/fd" % pid
        try:
            names = os.listdir(folder)
        except PermissionError:
            # It made itself unreadable, so what it holds cannot be counted.
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

class Watch:
    """Looks at what the sandbox uses, more rarely the longer a look takes."""
    def __init__(self, config):
        self.memory = config["memory"]
        self.disk = config["disk"]
        self.full = config["full"]
        self.walk = self.allowed = None
        self.began = self.last = self.next_disk = self.next_memory = 0.0

    def run_begins(self):
        """Gives the moment until which nothing has to be looked at."""
        now = time.monotonic()
        self.allowed = None if self.full else self.disk
        self.next_memory = self.next_disk = now + 0.02
        return now + 0.002

    def look(self):
        now = time.monotonic()
        if now >= self.next_memory:
            self.next_memory = now + 0.05
            check_memory(self.memory)
            check_temporary()
        if self.walk is None and now >= self.next_disk:
            self.walk, self.began = tree_bytes(), now
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
            # Who begins above the limit may tidy up, but not grow.
            self.allowed = max(self.disk, total)
        if total > self.allowed:
            raise Violation("disk")

    def is_owed_a_count(self):
        return self.walk is not None or time.monotonic() - self.last >= 1.0

    def run_ends(self):
        if self.walk is None:
            self.walk = tree_bytes()
        while self.walk is not None:
            self.step()

    def patience(self):
        return 0 if self.walk is not None else 0.02
`;
