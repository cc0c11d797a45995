/**
 * The first process inside every supervised sandbox, in Python. It drops its privileges, starts the
 * interpreter and the shell commands as its children, forwards their output in frames, and measures
 * memory, disk and processes from inside, where it sees only the sandbox. Any error here ends it, and
 * since it is process 1, all other processes in the sandbox then end too.
 */
export const SUPERVISOR_PROGRAM: string = `
import _socket, ctypes, errno, json, os, resource, select, signal, stat, struct, sys, time

DATA = "/mnt/data"
CHUNK = 65536
LARGEST_FRAME = 24 * 1024 * 1024
PAGE = resource.getpagesize()
MEBIBYTE = 1024 * 1024
PYTHON = 0
NOT_THERE = (errno.ENOENT, errno.ESRCH)
libc = ctypes.CDLL(None, use_errno=True)

class Violation(Exception):
    pass

class Frames:
    """Messages to the host. They never block, so that the host cannot delay a measurement."""
    def __init__(self):
        self.queued = bytearray()
        os.set_blocking(1, False)

    def queue(self, kind, channel, payload=b""):
        self.queued += kind + struct.pack(">II", channel, len(payload)) + payload

    def flush(self):
        while self.queued:
            try:
                del self.queued[:os.write(1, self.queued)]
            except BlockingIOError:
                return

    def send(self, kind, channel, payload=b""):
        self.queue(kind, channel, payload)
        self.flush()

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
            size = struct.unpack_from(">I", self.pending)[0]
            if len(self.pending) < 4 + size:
                return
            body = self.pending[4:4 + size]
            self.pending = self.pending[4 + size:]
            yield body

class Output:
    """An output stream of a child, limited to the run's maximum."""
    def __init__(self, kind, channel, frames):
        self.kind, self.channel, self.frames = kind, channel, frames
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.left = 0

    def pump(self):
        try:
            got = os.read(self.reader, CHUNK)
        except BlockingIOError:
            return 0
        if self.left > 0:
            self.frames.queue(self.kind, self.channel, got[:self.left])
            self.left -= len(got)
        return len(got)

    def drain(self):
        while self.pump():
            pass

    def close(self):
        self.drain()
        os.close(self.reader)
        os.close(self.writer)

def become(uid):
    if uid is None:
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # Changing the user cleared the parent-death signal.
    libc.prctl(1, signal.SIGKILL)

def set_visible(yes):
    # While hidden, no process of the same user can trace this one, read its memory or open its files.
    libc.prctl(4, 1 if yes else 0)

class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ubyte * 128),
                ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]

def ignore_stopped_children():
    """Sets SA_NOCLDSTOP. The supervisor stops and continues its children itself; each SIGCHLD for that would interrupt it twice per run."""
    action = Action()
    libc.sigaction(signal.SIGCHLD, None, ctypes.byref(action))
    # Python sets SA_ONSTACK. If that flag is missing, the structure has another layout and stays unchanged.
    if action.flags & 0x08000000:
        action.flags |= 1
        libc.sigaction(signal.SIGCHLD, ctypes.byref(action), None)

def fork(keep):
    """Forks. The child keeps only its standard streams and the descriptors in keep. The parent waits until it can measure the child."""
    ready = os.pipe()
    child = os.fork()
    if child:
        os.close(ready[1])
        os.read(ready[0], 1)
        os.close(ready[0])
        return child
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # The channel to the host must be gone before another process can open this one's files.
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in (*keep, ready[1]):
            try:
                os.close(int(name))
            except OSError:
                pass  # the descriptor of the listing itself
    # Below the supervisor's priority, so that busy code cannot delay a measurement.
    os.nice(2)
    set_visible(True)
    os.write(ready[1], b"1")
    os.close(ready[1])
    return 0

def limit_child(config, file_bytes, cpu_seconds):
    def set_limit(which, value):
        resource.setrlimit(which, (value, value))
    set_limit(resource.RLIMIT_AS, config["memory"])
    set_limit(resource.RLIMIT_FSIZE, file_bytes)
    # Fewer than the sandbox may have, so that code cannot keep the supervisor from starting a run.
    set_limit(resource.RLIMIT_NPROC, config["processes"] - 2)
    set_limit(resource.RLIMIT_NOFILE, min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    set_limit(resource.RLIMIT_CORE, 0)
    set_limit(resource.RLIMIT_MSGQUEUE, 0)
    set_limit(resource.RLIMIT_SIGPENDING, min(1024, resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]))
    if cpu_seconds:
        set_limit(resource.RLIMIT_CPU, cpu_seconds)

def signal_all(number):
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass

def signal_each(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
`;
