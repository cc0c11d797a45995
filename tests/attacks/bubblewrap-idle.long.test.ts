import { describe } from "vitest";
import { attackContainer, findIdleActivity } from "../support/attacks/attack-programs.ts";
import { isBubblewrapUsable } from "../support/attacks/bubblewrap-target.ts";

describe.skipIf(!(await isBubblewrapUsable()))("Between runs", () => {
  attackContainer({
    finding: "C2",
    tries: "a POSIX timer sends SIGCONT to stopped code between runs",
    shows: "`timer_create` is refused, and nothing runs.",
    work: (target) => findIdleActivity(target, TIMER),
  });

  attackContainer({
    finding: "C2",
    tries: "inotify and F_SETSIG send SIGCONT to stopped code between runs",
    shows: "`inotify_init` and `F_SETSIG` are refused, and nothing runs.",
    work: (target) => findIdleActivity(target, INOTIFY),
  });

  attackContainer({
    finding: "C13",
    tries: "PR_SET_PDEATHSIG(SIGCONT) wakes a child when its stopped parent is killed",
    shows: "The signal is refused, and what a run left behind is killed with its parent.",
    work: async (target) => {
      await target.python("import time\ntime.sleep(9)", { timeoutMs: 300 });
      return findIdleActivity(target, PARENT_DEATH);
    },
  });

  attackContainer({
    finding: "own",
    tries:
      "two processes send SIGCONT to each other in a loop, so that each undoes the stop of the other",
    shows: "They are stopped again until all are, and the container ends if that never happens.",
    work: (target) => findIdleActivity(target, PING_PONG),
  });

  attackContainer({
    finding: "own",
    tries:
      "the first thread of a process ends, so that /proc shows it as ended, while another thread runs",
    shows: "The process is found by its other threads, and the container ends.",
    work: (target) => findIdleActivity(target, HEADLESS),
  });

  attackContainer({
    finding: "own",
    tries: "an interval timer with a handler that continues the process",
    shows: "A stopped process handles no signal.",
    work: (target) => findIdleActivity(target, ALARM),
  });

  attackContainer({
    finding: "own",
    tries:
      "a stopped group of processes is orphaned, for which the kernel sends SIGHUP and SIGCONT",
    shows: "Nothing ends between runs, and what a command leaves behind is killed.",
    work: async (target) => [
      ...(await findIdleActivity(target, ORPHANS)),
      ...(await findIdleActivity(target, ORPHANS, "shell")),
    ],
  });

  attackContainer({
    finding: "own",
    tries: "a chain of processes that each start the next one and end",
    shows: "All are stopped at once, so the chain breaks.",
    work: (target) => findIdleActivity(target, CHAIN),
  });

  attackContainer({
    finding: "own",
    tries: "a command kills the process that adopts what it leaves behind",
    shows: "All processes without a known parent are killed.",
    work: (target) => findIdleActivity(target, KILL_PARENTS, "shell"),
  });

  attackContainer({
    finding: "own",
    tries: "a command leaves a daemon behind: forked twice, with its own session",
    shows: "It is still among the descendants of the command, and is killed.",
    work: (target) => findIdleActivity(target, DAEMON, "shell"),
  });

  attackContainer({
    finding: "own",
    tries: "a process that ignores every signal is left behind",
    shows: "SIGSTOP cannot be ignored.",
    work: (target) => findIdleActivity(target, IGNORING),
  });

  attackContainer({
    finding: "own",
    tries:
      "a process blocked in a write to a full pipe is woken when the supervisor reads the pipe",
    shows: "It stops before it returns from the system call.",
    work: (target) => findIdleActivity(target, FULL_PIPE),
  });
});

const TIMER = `
if os.fork() == 0:
    event = struct.pack("QiiQQQQQQ", 0, signal.SIGCONT, 0, 0, 0, 0, 0, 0, 0)
    timer = ctypes.c_void_p()
    libc.timer_create(1, event, ctypes.byref(timer))
    libc.timer_settime(timer, 0, struct.pack("qqqq", 0, 10 ** 7, 0, 10 ** 7), None)
    tick()
`;

const INOTIFY = `
import fcntl
if os.fork() == 0:
    try:
        watch = libc.inotify_init()
        libc.inotify_add_watch(watch, b"/mnt/data", 0xfff)
        fcntl.fcntl(watch, 8, os.getpid())
        fcntl.fcntl(watch, 10, signal.SIGCONT)
        fcntl.fcntl(watch, fcntl.F_SETFL, 0o20000)
    except OSError:
        pass
    tick()
`;

const PARENT_DEATH = `
if os.fork() == 0:
    if os.fork() == 0:
        libc.prctl(1, signal.SIGCONT)
        tick()
    time.sleep(60)
`;

const PING_PONG = `
pair = os.getpid()
first = os.fork()
if first == 0:
    second = os.fork()
    other = os.getppid() if second == 0 else second
    threading.Thread(target=tick, daemon=True).start()
    while True:
        try:
            os.kill(other, signal.SIGCONT)
        except OSError:
            pass
`;

const HEADLESS = `
if os.fork() == 0:
    threading.Thread(target=tick).start()
    libc.syscall(60)
`;

const ALARM = `
if os.fork() == 0:
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGCONT))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    tick()
`;

const ORPHANS = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        tick()
    time.sleep(0.2)
    os._exit(0)
`;

const CHAIN = `
if os.fork() == 0:
    handle = os.open("ticks", os.O_CREAT | os.O_RDWR)
    for count in range(10 ** 9):
        os.pwrite(handle, b"%d" % count, 0)
        if os.fork():
            os._exit(0)
time.sleep(0.3)
`;

const KILL_PARENTS = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        tick()
    os._exit(0)
time.sleep(0.1)
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, os.getpid()):
        status = open("/proc/%s/status" % name).read()
        if "PPid:\\t1\\n" in status:
            os.kill(int(name), signal.SIGKILL)
`;

const DAEMON = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        tick()
    os._exit(0)
time.sleep(0.2)
`;

const IGNORING = `
if os.fork() == 0:
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    tick()
`;

const FULL_PIPE = `
if os.fork() == 0:
    handle = os.open("ticks", os.O_CREAT | os.O_RDWR)
    for count in range(10 ** 9):
        os.write(2, bytes(65536))
        os.pwrite(handle, b"%d" % count, 0)
time.sleep(0.2)
`;
