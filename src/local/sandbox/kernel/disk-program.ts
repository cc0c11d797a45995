/** The part of the supervisor that measures the files in `/mnt/data`. */
export const DISK_PROGRAM: string = String.raw`
DEEPEST_FOLDER = 400
SMALLEST_ENTRY = 4096
# Another process replaced the entry.
REPLACED = NOT_THERE + (errno.ENOTDIR, errno.ELOOP)

def open_folder(parent, name):
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=parent)
    except PermissionError:
        pass
    except OSError as problem:
        if problem.errno in REPLACED:
            return None
        raise Violation("hidden") from problem
    # Reopen a folder that its owner made unreadable, so that nothing escapes the count.
    try:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod("/proc/self/fd/%d" % handle, 0o700)
        finally:
            os.close(handle)
        return os.open(name, flags, dir_fd=parent)
    except OSError as problem:
        if problem.errno in REPLACED:
            return None
        # A folder of another user: code in the sandbox has the same rights as this process.
        if problem.errno == errno.EPERM and not os.access(name, os.W_OK, dir_fd=parent):
            return None
        raise Violation("hidden") from problem

def measure_tree(processes):
    """Yields None now and then so that output is not delayed, and finally the sum and whether it may miss files."""
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
            except OSError as problem:
                if problem.errno in REPLACED:
                    continue
                raise Violation("hidden") from problem
            size = max(facts.st_size, facts.st_blocks * 512, SMALLEST_ENTRY)
            total += size // max(1, facts.st_nlink) if stat.S_ISREG(facts.st_mode) else size
            if stat.S_ISDIR(facts.st_mode):
                if len(stack) >= DEEPEST_FOLDER:
                    move_to_top(folder, entry.name)
                    raise Violation("depth")
                inner = open_folder(folder, entry.name)
                if inner is not None:
                    stack.append((inner, os.scandir(inner)))
        deleted = DeletedFiles(processes)
        for step in deleted.measure():
            yield None
        yield total + deleted.total, deleted.may_miss_files
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

def move_all_deep_folders(processes):
    for attempt in range(1000):
        try:
            for total in measure_tree(processes):
                pass
            return
        except Violation:
            pass

class DeletedFiles:
    """Deleted files, which still use the disk while a process has them open, mapped or runs them."""
    def __init__(self, processes):
        self.processes = processes
        self.device = os.stat(DATA).st_dev
        self.seen, self.sockets = set(), set()
        self.total = 0
        # Descriptors that were sent and not received, and files that are only mapped, cannot be measured.
        self.may_miss_files = False

    def measure(self):
        mapped = set()
        for process in self.processes.refresh():
            self.add(find_status("/proc/%d/exe" % process.pid))
            maps = read_all("/proc/%d/maps" % process.pid) or b""
            if b"(deleted)" in maps:
                mapped |= set(self.find_mapped(maps))
            yield
        for folder in self.processes.threads():
            for name in list_proc(folder + "/fd"):
                self.inspect(folder, name)
            yield
        if mapped - self.seen or self.count_sockets() > len(self.sockets):
            self.may_miss_files = True

    def inspect(self, folder, name):
        facts = find_status("%s/fd/%s" % (folder, name))
        if facts is None:
            return
        if stat.S_ISSOCK(facts.st_mode):
            self.sockets.add(facts.st_ino)
            details = read_all("%s/fdinfo/%s" % (folder, name))
            if details is not None and details.split(b"scm_fds:")[-1].strip() != b"0":
                self.may_miss_files = True
        self.add(facts)

    def add(self, facts):
        if facts is None or facts.st_nlink > 0 or facts.st_dev != self.device or not stat.S_ISREG(facts.st_mode):
            return
        if facts.st_ino not in self.seen:
            self.seen.add(facts.st_ino)
            self.total += max(facts.st_size, facts.st_blocks * 512)

    def find_mapped(self, maps):
        device = b"%02x:%02x" % (os.major(self.device), os.minor(self.device))
        for line in maps.split(b"\n"):
            if line.endswith(b"(deleted)"):
                fields = line.split(None, 5)
                if fields[3] == device or fields[5].startswith(DATA.encode()):
                    yield int(fields[4])

    def count_sockets(self):
        text = read_all("/proc/net/sockstat")
        return 0 if text is None else int(text.split(b"used ", 1)[1].split(None, 1)[0])
`;
