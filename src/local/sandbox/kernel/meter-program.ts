/** The part of the supervisor that decides when to measure, and whether everything is stopped between runs. */
export const METER_PROGRAM: string = `
# How fast one processor can fill memory, or files in memory before they are written.
FILLED_PER_SECOND = 4 * 1024 ** 3

class Disk:
    """Measures the files in /mnt/data: by a walk, and between walks by an upper bound of the growth."""
    def __init__(self, config, processes):
        self.limit, self.enforced = config["disk"], config["enforced"]["disk"]
        self.full = config["full"]
        self.processes = processes
        # A walk for less would cost more than it could save.
        self.slack = min(self.limit // 16, 16 * MEBIBYTE)
        self.walk = self.walk_mark = self.complete = None
        self.total, self.mark = 0, self.take_mark()
        self.allowed = self.limit
        self.room = self.limit
        self.began = self.next_walk = self.next_suspicion = 0.0

    def begin_run(self, now):
        if self.full and not self.enforced:
            # Nothing runs yet. A run that starts above the limit may delete files, but not grow.
            self.allowed = float("inf")
            self.count()
        # Nothing can be written then, but the kernel may still allocate blocks for what was written before.
        self.allowed = self.limit if self.total <= self.limit else self.total + self.slack
        self.next_walk = max(self.next_walk, now + 0.02)

    def take_mark(self):
        space = os.statvfs(DATA)
        return self.processes.written(), space.f_bfree * space.f_frsize, space.f_ffree

    def growth(self, mark):
        """Upper bounds of the growth since: bytes written, and space and entries that the disk lost, maybe to others."""
        written, free, entries = self.take_mark()
        return written - mark[0], max(0, mark[1] - free), max(0, mark[2] - entries) * SMALLEST_ENTRY

    def is_suspect(self):
        if self.enforced:
            return False
        written, used, entries = self.growth(self.mark)
        self.room = self.allowed - self.total - written
        room = max(self.allowed - self.total, 1 if self.full else self.slack)
        # A process's count is lost if no other waits for it. Then only the disk shows it: no reason for constant walks.
        return written >= room or used + entries >= room and time.monotonic() >= self.next_suspicion

    def step(self):
        if self.walk is None:
            self.walk, self.began, self.walk_mark = measure_tree(self.processes), time.monotonic(), self.take_mark()
        result = next(self.walk)
        if result is not None:
            self.walk = None
            self.finish(*result)

    def finish(self, total, may_miss_files):
        now = time.monotonic()
        self.next_walk = now + min(2.0, max(0.2, 5 * (now - self.began)))
        self.next_suspicion = now + 4 * (now - self.began)
        if not may_miss_files or self.complete is None:
            self.complete = total, self.walk_mark
        else:
            total = max(total, self.complete[0] + max(self.growth(self.complete[1])[:2]))
        self.total, self.mark = total, self.walk_mark
        self.full = total > self.limit
        if total > self.allowed:
            raise Violation("disk")

    def file_bytes(self):
        """The largest file that a new process may write: none above the limit, where it may only delete."""
        return 0 if self.full and not self.enforced else self.limit

    def is_due(self, now):
        return not self.enforced and (self.walk is not None or now >= self.next_walk)

    def walk_for(self, seconds):
        until = time.monotonic() + seconds
        self.step()
        while self.walk is not None and time.monotonic() < until:
            self.step()

    def count(self):
        """Walks to the end at once."""
        self.step()
        while self.walk is not None:
            self.step()

class Meter:
    """Measures while code runs; the longer a measurement takes, the less often."""
    def __init__(self, config, processes):
        self.processes = processes
        self.memory, self.disk = Memory(config, processes), Disk(config, processes)
        self.rate = FILLED_PER_SECOND * len(os.sched_getaffinity(0))
        self.next = 0.0

    def begin_run(self, now):
        self.memory.begin_run(now)
        self.disk.begin_run(now)
        self.next = now + self.wait_seconds()

    def wait_seconds(self):
        """How long it takes at least to fill the rest of the memory or of the disk, within limits."""
        rest = min(self.memory.room, self.disk.room)
        return min(0.05, max(0.003, rest / self.rate))

    def measure(self, now):
        self.memory.check(now)
        suspect = self.disk.is_suspect()
        pause = max(self.wait_seconds(), 4 * (time.monotonic() - now))
        if suspect:
            self.count_stopped()
        elif self.disk.is_due(now):
            self.disk.walk_for(0.002)
            pause = min(pause, 0.005)
        self.next = time.monotonic() + pause

    def count_stopped(self):
        """Counts the files from the start, while nothing runs."""
        self.disk.walk = None
        self.processes.while_stopped(self.disk.count)

class Idle:
    """Checks between runs that everything is stopped and stays so."""
    def __init__(self, processes):
        self.processes = processes
        self.deadline = self.next = 0.0
        self.ticks, self.waiting = None, set()

    def begin(self, now):
        self.ticks = None
        self.deadline = now + 5.0
        self.next = now + 0.01

    def check(self, now):
        """Returns whether everything has just stopped."""
        states = self.processes.states()
        if self.ticks is None:
            return self.settle(now, states)
        for pid, (letter, parent, ticks) in states.items():
            self.check_process(pid, letter, ticks)
        self.next = now + 0.1
        return False

    def settle(self, now, states):
        # A process stops when it is next scheduled, which takes a while on a busy machine.
        if any(state[0] not in b"TtZXD" for state in states.values()):
            if now > self.deadline:
                raise Violation("idle")
            signal_all(signal.SIGSTOP)
            self.next = now + 0.01
            return False
        self.ticks = {pid: state[2] for pid, state in states.items()}
        self.waiting = {pid for pid, state in states.items() if state[0] == b"D"}
        self.next = now + 0.1
        return True

    def check_process(self, pid, letter, ticks):
        # A process that waits for a disk stops after the wait.
        known = self.ticks.get(pid, -1)
        if letter not in b"TtZXD" or ticks > known + (5 if pid in self.waiting else 0):
            raise Violation("idle")
        if letter != b"D" and pid in self.waiting:
            self.waiting.discard(pid)
            self.ticks[pid] = ticks
`;
