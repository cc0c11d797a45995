/** The part of the supervisor that measures memory. */
export const MEMORY_PROGRAM: string = String.raw`
MOST_TEMPORARY_ENTRIES = 32768
MOST_LOCK_BYTES = 1024 * 1024
# The kernel memory that one descriptor can hold: an epoll instance watches up to 1,024 others.
LARGEST_DESCRIPTOR = 192 * 1024
PIPE_BYTES = 65536
OTHER_DESCRIPTOR = 2048

def find_temporary_folders():
    """The folders whose files are in memory."""
    found = []
    for line in (read_all("/proc/self/mountinfo") or b"").decode(errors="replace").splitlines():
        fields = line.split(" ")
        kind = fields[fields.index("-") + 1]
        if fields[4] in ("/tmp", "/dev/shm") and kind == "tmpfs":
            found.append(fields[4])
    return found

def find_socket_bytes():
    """The most that the buffer of one socket can hold. The last message may exceed the buffer by half."""
    try:
        pair = _socket.socketpair()
    except OSError:
        return 0  # no socket can be created at all
    try:
        pair[0].setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF, 2 ** 30)
    except OSError:
        pass
    size = pair[0].getsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF)
    for end in pair:
        end.close()
    return size * 3 // 2

class Memory:
    """Measures all memory of the sandbox: processes, files in memory, sockets and what descriptors hold."""
    def __init__(self, config, processes):
        self.limit = config["memory"]
        self.processes = processes
        self.temporary = find_temporary_folders()
        self.socket_bytes = find_socket_bytes()
        self.sockets = open_proc("/proc/net/sockstat")
        self.descriptors = self.next_descriptors = 0
        self.next_locks = 0.0
        self.room = 0

    def begin_run(self, now):
        self.next_locks = now + 0.25

    def check(self, now):
        self.check_entries()
        if now >= self.next_descriptors:
            self.descriptors = self.count_descriptors()
            self.next_descriptors = time.monotonic() + 0.05
        if now >= self.next_locks:
            self.check_locks()
            self.next_locks = time.monotonic() + 0.25
        bound = self.processes.resident() + self.count_files() + self.count_sockets() + self.descriptors * LARGEST_DESCRIPTOR
        self.room = self.limit - bound
        if self.room < 0:
            self.processes.while_stopped(self.check_exactly)

    def check_exactly(self):
        # Memory shared by forks counts once, and so do files in memory that are mapped.
        files = self.count_files()
        total = self.sum_proportional() + files + self.count_sockets() + self.sum_descriptors()
        if total > self.limit and files:
            total -= min(files, self.sum_mapped_files())
        self.room = self.limit - total
        if total > self.limit:
            raise Violation("memory")

    def check_entries(self):
        for folder in self.temporary:
            space = os.statvfs(folder)
            if space.f_files - space.f_ffree > MOST_TEMPORARY_ENTRIES:
                raise Violation("temporary")

    def count_files(self):
        total = 0
        for folder in self.temporary:
            space = os.statvfs(folder)
            total += (space.f_blocks - space.f_bfree) * space.f_frsize
        return total

    def count_sockets(self):
        """The memory that all sockets can hold, including sockets sent to a process that has not received them."""
        if self.sockets is None:
            return 0
        return int(os.pread(self.sockets, 200, 0).split(b"used ", 1)[1].split(None, 1)[0]) * self.socket_bytes

    def count_descriptors(self):
        total = 0
        for folder in self.processes.threads():
            facts = find_status(folder + "/fd")
            if facts is not None:
                # Older kernels do not count here.
                total += max(0, (facts.st_size or len(list_proc(folder + "/fd"))) - 8)
        return total

    def sum_descriptors(self):
        total, pipes = 0, set()
        for folder in self.processes.threads():
            for name in list_proc(folder + "/fd"):
                path = "%s/fd/%s" % (folder, name)
                try:
                    target = os.readlink(path)
                except OSError as problem:
                    explain_unreadable(problem, path)
                    continue
                if target == "anon_inode:[eventpoll]":
                    total += LARGEST_DESCRIPTOR
                elif target.startswith("pipe:"):
                    pipes.add(target)
                else:
                    total += OTHER_DESCRIPTOR
        return total + len(pipes) * PIPE_BYTES

    def check_locks(self):
        # Each file lock takes memory, and no other limit applies to their number. The kernel takes milliseconds to list them.
        text = read_all("/proc/locks")
        if text is not None and len(text) > MOST_LOCK_BYTES:
            raise Violation("memory")

    def sum_proportional(self):
        total, states = 0, self.processes.states()
        parents = {state[1]: pid for pid, state in states.items() if state[0] != b"D"}
        for process in self.processes.refresh():
            if states.get(process.pid, b"?")[0] == b"D" and self.shares_memory(process, parents.get(process.pid)):
                continue
            lines = (read_all("/proc/%d/smaps_rollup" % process.pid) or b"").split(b"\n")
            sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss:", b"SwapPss:"))]
            # Without its first thread, only the plain size of a process is known.
            total += sum(sizes) if sizes else process.resident() or 0
        return total

    def shares_memory(self, process, child):
        """Whether a process waits for a child that is about to start a program, and until then uses the same memory."""
        return child in self.processes.known and process.resident() == self.processes.known[child].resident()

    def sum_mapped_files(self):
        total = 0
        for process in self.processes.refresh():
            counts = False
            for line in (read_all("/proc/%d/smaps" % process.pid) or b"").split(b"\n"):
                fields = line.split(None, 5)
                if len(fields) > 1 and b"-" in fields[0]:
                    counts = len(fields) == 6 and fields[5].startswith((b"/tmp/", b"/dev/shm/"))
                elif counts and line.startswith(b"Pss:"):
                    total += int(fields[1]) * 1024
        return total
`;
