import { describe, expect, vi } from "vitest";
import { COUNT_FORKS } from "../support/attacks/attack-programs.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { openTarget, type Target } from "../support/attacks/bubblewrap-target.ts";
import { listEngines } from "../support/attacks/docker-target.ts";

vi.setConfig({ testTimeout: 60_000 });
const engines = await listEngines();

/** The limits of a container under attack: 300 MiB of memory, 64 MiB of files, 32 processes. */
describe.each(engines)("Limits of $engine as $as", ({ as, engine, sandbox }) => {
  /** Declares an attack that prints "held" if it has at some moment more than it may have. */
  const attack = (finding: string, tries: string, shows: string, run: Attacker): void => {
    attempt({ finding, surface: engine, as, tries, shows }, async () => {
      // A busy machine can delay the measurement of a watched limit once.
      const maxTries = ["C3", "C4", "C13"].includes(finding) ? 3 : 1;
      let output = "";
      for (let tried = 1; tried <= maxTries; tried++) {
        output = await run(await openTarget({ as, sandbox }));
        if (!output.includes("held")) return { tried, through: [] };
      }
      return { tried: maxTries, through: [output] };
    });
  };

  attack(
    "C2",
    "wakes stopped code between runs with timers, alarms, inotify, owned descriptors and the death of a parent",
    "the calls are refused, and nothing runs between runs",
    async (target) => {
      await target.python(WAKERS);
      const count = async () => Number((await target.shell("cat ticks | wc -c")).stdout);
      const before = await count();
      await new Promise((resolve) => setTimeout(resolve, 800));
      const after = await count();
      // Each run itself lasts a few milliseconds, in which leftovers of Python stay stopped.
      return after - before > 20 ? `held: ${after - before} ticks` : "";
    },
  );

  attack(
    "C3",
    "reserves a gigabyte of disk with fallocate, and posix_fallocate",
    "fallocate is refused, and writing as much ends the sandbox",
    (target) => runPython(target, FALLOCATE),
  );

  attack(
    "C3",
    "blinds the supervisor with prlimit, then fills the disk",
    "the limits of another process cannot be changed",
    (target) =>
      runPython(
        target,
        `import resource
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):
    try: resource.prlimit(1, limit, (1, 1))
    except OSError: continue
    print("held", limit)`,
      ),
  );

  attack(
    "C3",
    "hides deleted files in mappings without descriptors",
    "mapped files count, and the sandbox ends",
    (target) => runPython(target, MAPPED_FILES),
  );

  attack(
    "C3",
    "hides deleted files in descriptors that are in flight between sockets",
    "the sandbox ends, or descriptors cannot be sent",
    (target) => runPython(target, FILES_IN_FLIGHT),
  );

  attack(
    "C4",
    "fills the buffers of sockets with more than the memory limit",
    "sockets count, and the sandbox ends",
    (target) => runPython(target, SOCKET_BUFFERS),
  );

  attack(
    "C4",
    "slows the supervisor down with SCHED_IDLE, priorities and processor affinity",
    "scheduling of another process cannot be changed",
    (target) => runPython(target, SCHEDULING),
  );

  attack(
    "C10",
    "exhausts the inotify instances and terminals of the host's user",
    "no instance can be created, and terminals are bounded by the number of descriptors",
    (target) => runPython(target, EXHAUSTION),
  );

  attack(
    "C10",
    "forges the answer of a later run by a process that an earlier run has left",
    "the answer is that of the run",
    async (target) => {
      await target.python(FORGER);
      const run = await target.python("print('true')");
      return run.stdout === "true\n" && run.images.length === 0 ? "" : `held: ${run.stdout}`;
    },
  );

  attack(
    "C13",
    "uses the whole memory limit in Python and again in a shell command",
    "both share one limit",
    async (target) => {
      await target.python("held = bytearray(b'x') * (200 * 2 ** 20)");
      const code =
        "import time; b = bytearray(b'x') * (200 * 2 ** 20); time.sleep(0.5); print('held')";
      const run = await target.shell(`python3 -c "${code}"`);
      const rest = await target.python("print(len(held))");
      return run.stdout.includes("held") && rest.error === null ? "held: 400 MiB" : "";
    },
  );

  attack(
    "C13",
    "allocates memory in a burst of 12 processes at once",
    "the processes are killed before they have it all",
    (target) => runPython(target, BURST),
  );

  attempt(
    {
      finding: "own",
      surface: "Docker and Podman",
      as,
      tries: "a fork bomb in Python and one in a shell",
      shows: "both stop at the limit of processes and end at the timeout",
    },
    async () => {
      const target = await openTarget({ as, sandbox });
      const { stdout } = await target.python(COUNT_FORKS);
      expect(Number(stdout)).toBeGreaterThan(20);
      const bomb = await target.shell(":(){ :|:& };:; sleep 5", { timeoutMs: 700 });
      expect(bomb.timedOut || bomb.exitCode !== 0).toBe(true);
      return { tried: 2, through: Number(stdout) > 40 ? [stdout] : [] };
    },
  );

  attempt(
    {
      finding: "own",
      surface: "Docker and Podman",
      as,
      tries: "fills /tmp, /dev/shm and their entries",
      shows: "each has a size limit, and many entries end the sandbox",
    },
    async () => {
      const target = await openTarget({ as, sandbox });
      const through: string[] = [];
      for (const folder of ["/tmp", "/dev/shm"]) {
        const { stdout } = await target.shell(
          `head -c 1000000000 /dev/zero > ${folder}/big; stat -c %s ${folder}/big; rm -f ${folder}/big`,
        );
        if (Number(stdout) > 300 * 2 ** 20) through.push(`${folder}: ${stdout}`);
      }
      const many = "for i in range(10 ** 6): open(f'/tmp/{i}', 'w').close()";
      const run = await target.python(many, { timeoutMs: 15_000 });
      if (run.error === null) through.push("a million entries");
      return { tried: 3, through };
    },
  );
});

type Attacker = (target: Target) => Promise<string>;

async function runPython(target: Target, code: string): Promise<string> {
  return (await target.python(code, { timeoutMs: 8_000 })).stdout;
}

/** Leftovers that count in a file when they run, and everything that could wake them. */
const WAKERS = `
import ctypes, fcntl, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
def tick():
    with open("ticks", "ab", buffering=0) as file:
        while True:
            file.write(b"x")
            time.sleep(0.005)
def leave(prepare):
    if os.fork() == 0:
        try: prepare()
        except BaseException: pass
        tick()
def timers():
    import struct
    event = struct.pack("Qii", 0, signal.SIGCONT, 0) + bytes(48)
    libc.timer_create(1, event, ctypes.byref(ctypes.c_void_p()))
def alarms():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
def owned():
    reader, writer = os.pipe()
    fcntl.fcntl(reader, 10, signal.SIGCONT)
    fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    if os.fork() == 0:
        while True:
            os.write(writer, b"x")
            time.sleep(0.01)
def orphan():
    libc.prctl(1, signal.SIGCONT)
    if os.fork() == 0:
        libc.prctl(1, signal.SIGCONT)
        tick()
def watched():
    handle = libc.inotify_init1(0)
    libc.inotify_add_watch(handle, b".", 2)
    fcntl.fcntl(handle, 10, signal.SIGCONT)
    fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(handle, fcntl.F_SETFL, os.O_ASYNC)
for prepare in (timers, alarms, owned, orphan, watched):
    leave(prepare)
time.sleep(0.2)
`;

const FALLOCATE = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
handle = os.open("big", os.O_CREAT | os.O_RDWR)
for work in (lambda: libc.fallocate(handle, 0, ctypes.c_long(0), ctypes.c_long(2 ** 30)),
             lambda: libc.posix_fallocate(handle, ctypes.c_long(0), ctypes.c_long(60 * 2 ** 20))):
    work()
if os.fstat(handle).st_blocks * 512 > 90 * 2 ** 20: print("held", flush=True)
more = [os.open("more%d" % i, os.O_CREAT | os.O_RDWR) for i in range(3)]
for one in more: libc.posix_fallocate(one, ctypes.c_long(0), ctypes.c_long(60 * 2 ** 20))
import time; time.sleep(1)
if sum(os.fstat(one).st_blocks * 512 for one in [handle, *more]) > 96 * 2 ** 20: print("held", flush=True)
`;

const MAPPED_FILES = `
import mmap, os, time
maps = []
for i in range(12):
    handle = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    os.ftruncate(handle, 20 * 2 ** 20)
    one = mmap.mmap(handle, 20 * 2 ** 20)
    os.close(handle)
    for at in range(0, len(one), 4096): one[at] = 1
    one.flush()
    maps.append(one)
time.sleep(1)
print("held", flush=True)
`;

const FILES_IN_FLIGHT = `
import array, os, socket, time
pairs = []
for i in range(20):
    left, right = socket.socketpair()
    handle = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.unlink("gone")
    for _ in range(10): os.write(handle, bytes(2 ** 20))
    os.fsync(handle)
    left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))])
    os.close(handle)
    pairs.append((left, right))
time.sleep(1)
print("held", flush=True)
`;

const SOCKET_BUFFERS = `
import os, signal, socket, struct, time
reader, writer = os.pipe()
children = []
for _ in range(6):
    children.append(os.fork())
    if children[-1] == 0:
        pairs, total = [], 0
        try:
            for _ in range(480):
                pairs.append(socket.socketpair())
                for end in pairs[-1]:
                    end.setblocking(False)
                    try:
                        while True: total += end.send(bytes(65536))
                    except BlockingIOError: pass
        finally:
            os.write(writer, struct.pack("Q", total))
            time.sleep(20)
time.sleep(2)
os.set_blocking(reader, False)
try: totals = os.read(reader, 48)
except BlockingIOError: totals = b""
total = sum(struct.unpack("%dQ" % (len(totals) // 8), totals))
if total > 400 * 2 ** 20: print("held", total, flush=True)
for child in children: os.kill(child, signal.SIGKILL)
`;

const SCHEDULING = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, work in {
    "idle": lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    "batch": lambda: os.sched_setscheduler(1, os.SCHED_BATCH, os.sched_param(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    "user": lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    "affinity": lambda: os.sched_setaffinity(1, {0}),
}.items():
    try: work()
    except OSError: continue
    print("held", name)
if libc.syscall(251, 1, 1, 3 << 13) == 0: print("held ioprio")
`;

const EXHAUSTION = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
instances = [libc.inotify_init1(0) for _ in range(200)]
if max(instances) >= 0: print("held", len([one for one in instances if one >= 0]), "instances")
terminals = 0
try:
    while terminals < 3000:
        os.openpty()
        terminals += 1
except OSError: pass
if terminals > 1024: print("held", terminals, "terminals")
`;

const FORGER = `
import os, struct, time
if os.fork() == 0:
    body = os.urandom(16) + b'{"error": null, "images": ["iVBORw0KGgo="]}'
    while True:
        for pid in [1, os.getppid(), *map(int, filter(str.isdigit, os.listdir("/proc")))]:
            for number in range(12):
                try: handle = os.open("/proc/%d/fd/%d" % (pid, number), os.O_WRONLY | os.O_NONBLOCK)
                except OSError: continue
                try: os.write(handle, struct.pack(">I", len(body)) + body)
                except OSError: pass
                os.close(handle)
        time.sleep(0.01)
time.sleep(0.05)
`;

/** Prints how many processes hold their memory at the same time. The kernel may have killed others that had it before. */
const BURST = `
import mmap, os, struct, time
reader, writer = os.pipe()
children = set()
for _ in range(12):
    child = os.fork()
    if child:
        children.add(child)
        continue
    try:
        one = mmap.mmap(-1, 100 * 2 ** 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)
        os.write(writer, struct.pack("I", os.getpid()))
    finally:
        time.sleep(20)
time.sleep(1.5)
os.set_blocking(reader, False)
try: filled = set(pid for (pid,) in struct.iter_unpack("I", os.read(reader, 400)))
except BlockingIOError: filled = set()
living = {child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0}
held = len(filled & living)
if held * 100 > 375: print("held", held, flush=True)
for child in living:
    os.kill(child, 9)
    os.waitpid(child, 0)
`;
