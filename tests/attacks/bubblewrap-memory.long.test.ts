import { describe } from "vitest";
import {
  attackContainer,
  findExcess,
  measureUsage,
  PRELUDE,
} from "../support/attacks/attack-programs.ts";
import { isBubblewrapUsable } from "../support/attacks/bubblewrap-target.ts";

const LIMIT = 128;
const GIBIBYTE = { memoryBytes: 1024 ** 3 };

describe.skipIf(!(await isBubblewrapUsable()))("The memory limit of bubblewrap", () => {
  attackContainer({
    finding: "C4",
    tries: "socket buffers hold 1.8 GB",
    shows: "Buffers cannot be enlarged, and every socket counts with what its buffer can hold.",
    work: async (target) => findExcess("sockets", await measureUsage(target, SOCKETS), LIMIT),
  });

  attackContainer({
    finding: "C4",
    tries: "SCHED_IDLE and the lowest priority for the supervisor, then a burst of allocation",
    shows: "Scheduling calls on other processes are refused.",
    work: async (target) =>
      findExcess("memory", await measureUsage(target, SLOW_SUPERVISOR), LIMIT),
  });

  attackContainer({
    finding: "C4",
    tries: "AF_INET sockets, which are in no list of unix sockets",
    shows: "The address families are refused.",
    work: async (target) => {
      const run = await target.python(
        `${PRELUDE}for family in (2, 10):\n  try: print(socket.socket(family))\n  except OSError: pass`,
      );
      return run.stdout === "" ? [] : [run.stdout];
    },
  });

  attackContainer({
    finding: "C13",
    tries: "the interpreter and a command each take 60 % of the memory",
    shows: "Both are in one sandbox with one budget.",
    options: GIBIBYTE,
    work: async (target) => {
      const share = `${PRELUDE}heap = bytearray(b"x") * (620 * MIB)\nprint(len(heap) // MIB)`;
      await target.python(share);
      const run = await target.shell(`python3 -c '${share}\ntime.sleep(1)\nprint("both")'`);
      return run.stdout.includes("both") ? ["1,240 MiB of 1,024 MiB"] : [];
    },
  });

  attackContainer({
    finding: "C13",
    tries: "a plain burst of allocation by six processes",
    shows: "Usage is measured every few milliseconds near the limit, and everything is killed.",
    options: GIBIBYTE,
    work: async (target) => findExcess("memory", await measureUsage(target, BURST), 1024),
  });

  attackContainer({
    finding: "own",
    tries: "a process whose first thread has ended allocates, because /proc shows no memory for it",
    shows: "Its memory is read from its other threads.",
    work: async (target) => findExcess("memory", await measureUsage(target, HEADLESS), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "memory in files without a name: `memfd_create`, and deleted files of /dev/shm",
    shows: "`memfd_create` is refused, and files of /dev/shm count as memory.",
    work: async (target) => findExcess("memory", await measureUsage(target, SHARED), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "/tmp and /dev/shm are filled to their size, besides the memory of the process",
    shows: "Files in memory count for the memory limit.",
    work: async (target) => findExcess("memory", await measureUsage(target, TEMPORARY), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "thousands of epoll instances that each watch a thousand descriptors, which only the kernel's memory holds",
    shows: "Every epoll instance counts with the most that it can hold.",
    work: async (target) => findExcess("kernel memory", await measureUsage(target, EPOLL), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "hundreds of thousands of file locks, which only the kernel's memory holds",
    shows: "The locks are counted, and too many of them end the container.",
    work: async (target) => {
      const thousands = await measureUsage(target, LOCKS, 8_000);
      return thousands <= 400 ? [] : [`${thousands} thousand locks`];
    },
  });

  attackContainer({
    finding: "own",
    tries: "thousands of full pipes",
    shows: "Every pipe counts with what it can hold.",
    work: async (target) => findExcess("pipes", await measureUsage(target, PIPES), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "forks hide the growth of one process behind memory that they share",
    shows: "Shared memory counts once, private memory for each process.",
    work: async (target) => findExcess("memory", await measureUsage(target, FORKS), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "code that is larger than the pipe, while a leftover process stops the interpreter, so that the supervisor waits and does not look",
    shows: "The supervisor never waits for the interpreter.",
    work: async (target) => {
      await target.python(`${PRELUDE}${STOPPER}`);
      const run = await target.python(`x = "${"y".repeat(500_000)}"`, {
        timeoutMs: 2_000,
        maxOutputBytes: 100_000,
      });
      const used = Math.max(0, ...run.stdout.split("\n").filter(Boolean).map(Number));
      return findExcess("memory", used, LIMIT);
    },
  });

  attackContainer({
    finding: "own",
    tries:
      "a process makes itself unreadable (PR_SET_DUMPABLE), so that its usage cannot be measured",
    shows: "The container ends.",
    work: async (target) => findExcess("memory", await measureUsage(target, UNREADABLE), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "process numbers are used up until they start again, so that a new process has a known number",
    shows:
      "The supervisor reads by descriptor, which never refers to another process, and lists again.",
    work: async (target) => findExcess("memory", await measureUsage(target, REUSED), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "a flood of output keeps the supervisor busy during a burst of allocation",
    shows: "Output is read in small parts between measurements.",
    work: async (target) => findExcess("memory", await measureUsage(target, FLOOD), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "a thousand signals a second for the supervisor during a burst of allocation",
    shows: "A signal only makes it look for ended processes.",
    work: async (target) => findExcess("memory", await measureUsage(target, SIGNALS), LIMIT),
  });
});

const SOCKETS = `
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
total, held = 0, []
for i in range(8):
    if i and os.fork():
        time.sleep(5)
        os._exit(0)
    while True:
        try:
            pair = socket.socketpair()
        except OSError:
            break
        for end in pair:
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MIB)
            except OSError:
                pass
            end.setblocking(False)
            try:
                while True:
                    total += end.send(bytes(65536))
            except BlockingIOError:
                pass
        held.append(pair)
        report(total // MIB)
`;

const FILL = `
total = 0
heaps = []
while True:
    try:
        heaps.append(bytearray(b"x") * MIB)
    except MemoryError:
        report(total)
        time.sleep(60)
    total += 1
    report(total)
`;

const SHARE_AND_FILL = `
counter = mmap.mmap(-1, 4096)
def fill(workers):
    for worker in range(workers):
        if os.fork() == 0:
            heaps = []
            for i in range(2000):
                try:
                    heaps.append(bytearray(b"x") * MIB)
                except MemoryError:
                    time.sleep(60)
                counter[worker * 8:worker * 8 + 8] = struct.pack("Q", i)
    while True:
        report(sum(struct.unpack_from("Q", counter, worker * 8)[0] for worker in range(workers)))
        time.sleep(0.001)
`;

const SLOW_SUPERVISOR = `${SHARE_AND_FILL}
for call in (lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
             lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
             lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
             lambda: os.sched_setaffinity(1, {0})):
    try:
        call()
    except OSError:
        pass
fill(4)
`;

const BURST = `${SHARE_AND_FILL}
fill(6)
`;

const HEADLESS = `${SHARE_AND_FILL}
for worker in range(4):
    if os.fork() == 0:
        def grow():
            heaps = []
            for i in range(2000):
                heaps.append(bytearray(b"x") * MIB)
                counter[worker * 8:worker * 8 + 8] = struct.pack("Q", i)
        threading.Thread(target=grow).start()
        libc.syscall(60)
while True:
    report(sum(struct.unpack_from("Q", counter, worker * 8)[0] for worker in range(4)))
    time.sleep(0.001)
`;

const SHARED = `
total, held = 0, []
for i in range(600):
    handle = libc.memfd_create(b"x", 0)
    if handle < 0:
        handle = os.open("/dev/shm/f%d" % i, os.O_CREAT | os.O_RDWR)
        os.unlink("/dev/shm/f%d" % i)
    try:
        total += os.write(handle, bytes(MIB))
    except OSError:
        break
    report(total // MIB)
`;

const TEMPORARY = `
total = 0
for folder in ("/tmp", "/dev/shm"):
    with open(folder + "/big", "wb") as file:
        try:
            while True:
                total += file.write(bytes(MIB))
                report(total // MIB)
        except OSError:
            pass
base = total // MIB
heaps = []
try:
    while True:
        heaps.append(bytearray(b"x") * MIB)
        report(base + len(heaps))
except MemoryError:
    time.sleep(3)
`;

const EPOLL = `
import select
targets = [os.eventfd(0) for i in range(500)]
held = []
for worker in range(20):
    while True:
        try:
            instance = select.epoll()
            for target in targets:
                instance.register(target)
            held.append(instance)
        except OSError:
            break
    report(len(held) * len(targets) * 192 // MIB)
    if os.fork():
        time.sleep(20)
`;

const LOCKS = `
import fcntl
count = 0
for i in range(500):
    handle = os.open("locked%d" % i, os.O_CREAT | os.O_RDWR)
    for byte in range(0, 2000, 2):
        fcntl.lockf(handle, fcntl.LOCK_EX, 1, byte)
        count += 1
    report(count // 1000)
`;

const PIPES = `
total, held = 0, []
for worker in range(20):
    while True:
        try:
            reader, writer = os.pipe()
        except OSError:
            break
        os.set_blocking(writer, False)
        held.append((reader, writer))
        try:
            while True:
                total += os.write(writer, bytes(65536))
        except BlockingIOError:
            pass
        report(total // MIB)
    if os.fork():
        time.sleep(20)
`;

const FORKS = `${SHARE_AND_FILL}
base = bytearray(b"x") * (60 * MIB)
fill(8)
`;

const STOPPER = `
interpreter = os.getpid()
if os.fork() == 0:
    heaps = []
    while True:
        os.kill(interpreter, signal.SIGSTOP)
        try:
            heaps.append(bytearray(b"x") * MIB)
        except MemoryError:
            os.fork()
            heaps.append(b"")
        report(len(heaps))
`;

const UNREADABLE = `
libc.prctl(4, 0)
${FILL}`;

const REUSED = `${SHARE_AND_FILL}
first = os.fork()
if first == 0:
    os._exit(0)
os.waitpid(first, 0)
until = time.monotonic() + 3
while time.monotonic() < until:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    if child < first:
        break
fill(3)
`;

const FLOOD = `${SHARE_AND_FILL}
if os.fork() == 0:
    while True:
        os.write(2, bytes(65536))
fill(3)
`;

const SIGNALS = `${SHARE_AND_FILL}
if os.fork() == 0:
    while True:
        os.kill(1, signal.SIGCHLD)
fill(3)
`;
