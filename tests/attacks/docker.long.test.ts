import { createServer } from "node:net";
import { hostname } from "node:os";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Attack, attempt } from "../support/attacks/attempt.ts";
import { listEngines } from "../support/attacks/docker-target.ts";
import { shareTarget } from "../support/attacks/shared-target.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
vi.stubEnv("HTTPS_PROXY", "http://user:sk-host-secret@proxy");
vi.stubEnv("HOST_SECRET", "sk-host-secret");
const engines = await listEngines();

/** Runs once for each engine and user. Each attack prints one line for everything that gets through. */
describe.each(engines)("A container of $engine as $as", (engine) => {
  const target = shareTarget(engine);
  const attack = (tries: string, shows: string, code: string): void => {
    attempt(describeAttack(tries, shows), async () => ({ through: await target.attack(code) }));
  };
  const describeAttack = (tries: string, shows: string): Attack => ({
    finding: "own",
    surface: "Docker and Podman",
    as: engine.as,
    tries,
    shows,
  });

  attack(
    "finds the engine's socket, or any other socket, in the file system",
    "no socket exists in the container",
    `
import os, stat
for folder in ("/run", "/var/run", "/tmp", "/dev", "/mnt", "/var", "/etc", "/home", "/root"):
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                if stat.S_ISSOCK(os.lstat(path + "/" + name).st_mode): print(path, name)
            except OSError: pass`,
  );

  attack(
    "writes to every mount and folder outside /mnt/data, /tmp and /dev/shm",
    "the image and everything else that is mounted is read-only or belongs to root",
    `
import os
folders = {line.split()[4] for line in open("/proc/self/mountinfo")}
for top in ("/bin", "/dev", "/etc", "/home", "/opt", "/root", "/run", "/srv", "/usr", "/var", "/sys/fs"):
    for path, names, _ in os.walk(top):
        folders.add(path)
        if path.count("/") > 3: names.clear()
for folder in sorted(folders):
    if folder in ("/mnt/data", "/tmp", "/dev/shm") or folder.startswith("/proc"): continue
    try: open(folder + "/written", "w").close()
    except OSError: pass
    else: print(folder)`,
  );

  attack(
    "looks for a capability in any of its five sets, and for a way to gain one",
    "all sets are empty, and no new privileges can be gained",
    `
for line in open("/proc/self/status"):
    name, value = line.split(":")
    if name.startswith("Cap") and int(value, 16) != 0: print(line.strip())
    if name == "NoNewPrivs" and value.strip() != "1": print(line.strip())
    if name == "Seccomp" and value.strip() != "2": print(line.strip())`,
  );

  attack(
    "becomes root with every setuid program of the image and with its own copies",
    "setuid bits have no effect",
    `
import os, shutil, stat, subprocess
programs = []
for path, _, names in os.walk("/usr"):
    for name in names:
        try: mode = os.lstat(path + "/" + name).st_mode
        except OSError: continue
        if stat.S_ISREG(mode) and mode & 0o6000: programs.append(path + "/" + name)
for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    copy = folder + "/id"
    shutil.copy("/usr/bin/id", copy)
    os.chmod(copy, 0o6755)
    try: shown = subprocess.run([copy, "-u"], capture_output=True, text=True).stdout
    except OSError: shown = ""
    if shown.strip() == "0" and os.getuid() != 0: print(copy)
    os.unlink(copy)
for program in programs:
    if program.endswith("/su"):
        shown = subprocess.run([program, "-c", "id -u", "root"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if shown.stdout.strip() == "0": print(program)
if os.getuid() == 0: print("root")`,
  );

  attack(
    "opens devices: disks, memory, terminals, FUSE, KVM and the network tunnel",
    "only null, zero, full, random, urandom and the caller's own terminal devices exist",
    `
import os, stat
harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}
for path, _, names in os.walk("/dev"):
    for name in names:
        mode = os.lstat(path + "/" + name).st_mode
        if not (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) or name in harmless: continue
        try: os.close(os.open(path + "/" + name, os.O_RDONLY | os.O_NONBLOCK))
        except OSError: continue
        print(path, name)`,
  );

  attack(
    "creates device files for the host's disk, memory and kernel log",
    "mknod is refused everywhere",
    `
import os, stat
for folder in ("/mnt/data", "/tmp", "/dev", "/dev/shm"):
    for kind, major, minor in ((stat.S_IFBLK, 8, 0), (stat.S_IFBLK, 254, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 1, 11)):
        try: os.mknod(folder + "/device", 0o666 | kind, os.makedev(major, minor))
        except OSError: continue
        print(folder, kind, major, minor)
        os.unlink(folder + "/device")`,
  );

  attack(
    "writes to kernel settings in /proc/sys, to sysrq-trigger, and to the OOM score of process 1",
    "each is read-only or masked",
    `
import os
paths = ["/proc/sysrq-trigger", "/proc/1/oom_score_adj", "/proc/scsi/scsi", "/proc/mtrr"]
for path, _, names in os.walk("/proc/sys"):
    paths += [path + "/" + name for name in names]
for path in paths:
    try: os.close(os.open(path, os.O_WRONLY))
    except OSError: continue
    print(path)`,
  );

  attack(
    "reads kernel memory, keys, timers and firmware tables from /proc and /sys",
    "they are masked: empty or refused",
    `
for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats", "/dev/mem", "/dev/kmsg",
             "/sys/firmware/acpi/tables/DSDT", "/sys/firmware/dmi/tables/DMI", "/sys/kernel/debug/sched/debug", "/sys/kernel/security/lsm"):
    try:
        with open(path, "rb") as file:
            if file.read(16): print(path)
    except OSError: pass`,
  );

  attack(
    "changes its own limits through /sys/fs/cgroup, or escapes with release_agent",
    "control groups are mounted read-only",
    `
import os
for path, _, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        try: os.close(os.open(path + "/" + name, os.O_WRONLY))
        except OSError: continue
        print(path, name)
    try: os.mkdir(path + "/own")
    except OSError: continue
    print(path)`,
  );

  attack(
    "creates namespaces, mounts file systems and enters other namespaces",
    "unshare, clone, mount, the new mount calls, pivot_root, chroot and setns are refused",
    `
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000):
    if libc.unshare(flag) == 0: print("unshare", hex(flag))
    pid = libc.syscall(56 if x86 else 220, flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid > 0: print("clone", hex(flag))
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0: print("mount")
for number in (428, 429, 430, 431, 432, 442):
    if libc.syscall(number, -1, b"/", 0, 0, 0) >= 0: print("mount call", number)
if libc.chroot(b"/tmp") == 0: print("chroot")
for name in os.listdir("/proc/self/ns"):
    handle = os.open("/proc/self/ns/" + name, os.O_RDONLY)
    if libc.setns(handle, 0) == 0: print("setns", name)
    os.close(handle)`,
  );

  attack(
    "has another network interface than loopback, and opens sockets of 46 address families",
    "only loopback exists, and only unix sockets can be created",
    `
import os, socket
for name in os.listdir("/sys/class/net"):
    if name != "lo": print(name)
for family in range(46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try: socket.socket(family, kind).close()
        except OSError: continue
        if family != socket.AF_UNIX: print(family, kind)`,
  );

  attack(
    "uses the kernel's keyrings, BPF, perf, user-mode page faults and handles of files",
    "each call is refused",
    `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
calls = {"x86_64": (248, 249, 250, 321, 298, 323, 303, 304, 310, 101, 175, 246, 103), "aarch64": (217, 218, 219, 280, 241, 282, 264, 265, 270, 117, 105, 104, 116)}
for number in calls.get(platform.machine(), ()):
    if libc.syscall(number, 0, 0, 0, 0, 0) >= 0: print(number)`,
  );

  attack(
    "sets the clock, the host name and the priority of the whole machine",
    "each call is refused",
    `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
if libc.sethostname(b"evil", 4) == 0: print("hostname")
if libc.settimeofday(bytes(16), None) == 0: print("time")
for work in (lambda: os.nice(-5), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):
    try: work()
    except OSError: continue
    print(work)`,
  );

  attack(
    "writes into the supervisor's pipes and memory through /proc/1",
    "process 1 cannot be opened, traced or signaled with effect",
    `
import ctypes, os
for name in ("mem", "fd/0", "fd/1", "fd/2", "environ", "maps", "root/etc/hostname", "cwd"):
    try: os.close(os.open("/proc/1/" + name, os.O_RDWR if name == "mem" or name.startswith("fd") else os.O_RDONLY))
    except OSError: continue
    print(name)
libc = ctypes.CDLL(None, use_errno=True)
if libc.ptrace(16, 1, 0, 0) == 0: print("ptrace")
if libc.process_vm_readv(1, None, 0, None, 0, 0) >= 0: print("process_vm_readv")`,
  );

  attack(
    "fills message queues, which are kernel memory, through /dev/mqueue",
    "no queue can be created",
    `
for number in range(8):
    try: open("/dev/mqueue/%d" % number, "w").close()
    except OSError: continue
    print(number)`,
  );

  attack(
    "types into the terminal of the person who started the provider",
    "there is no controlling terminal",
    `
import fcntl, os, termios
for name in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/pts/0"):
    try: handle = os.open(name, os.O_RDWR | os.O_NOCTTY)
    except OSError: continue
    try: fcntl.ioctl(handle, termios.TIOCSTI, b"x")
    except OSError: continue
    print(name)`,
  );

  attack(
    "finds a secret of the host's environment, or a proxy's password, in any process",
    "the environment is empty except for nine fixed variables",
    `
import os
known = {"HOME", "USER", "PATH", "LANG", "TERM", "MPLBACKEND", "MPLCONFIGDIR", "OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX", "LC_CTYPE"}
for name, value in os.environ.items():
    if name not in known or "secret" in value: print(name)
for pid in os.listdir("/proc"):
    try: text = open("/proc/" + pid + "/environ").read()
    except OSError: continue
    if "sk-host-secret" in text: print(pid)`,
  );

  attack(
    "learns the host's name, name servers, users or address book from files in /etc",
    "the files are those of the image or have fixed content",
    `
import socket
host = ${JSON.stringify(hostname())}
for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/hostname", "/etc/mtab", "/run/.containerenv", "/.dockerenv"):
    try: text = open(path).read()
    except OSError: continue
    if host in text.split(): print(path)
    if path == "/etc/resolv.conf":
        for line in text.splitlines():
            if line.startswith("nameserver") and line.split()[1] != "192.0.2.1": print(line)
if socket.gethostname() != "container": print(socket.gethostname())`,
  );

  attempt(
    describeAttack(
      "connects to a server and to an abstract unix socket of the host",
      "both are unreachable: the network namespace is empty",
    ),
    async () => {
      const name = `wink-${process.pid}-${engine.engine}-${engine.as}`;
      let connections = 0;
      const listen = async (at: string | number): Promise<unknown> => {
        const server = createServer(() => {
          connections += 1;
        });
        onTestFinished(() => void server.close());
        await new Promise<void>((resolve) => server.listen(at, resolve));
        return server.address();
      };
      const address = await listen(0);
      await listen(`\0${name}`);
      const port = typeof address === "object" && address && "port" in address ? address.port : 0;
      const through = await target.attack(`
import socket
for family, address in ((socket.AF_UNIX, "\\0${name}"), (socket.AF_INET, ("127.0.0.1", ${port}))):
    try: socket.socket(family).connect(address)
    except OSError: continue
    print(address)`);
      return { tried: 2, through: [...through, ...Array(connections).fill("connected")] };
    },
  );

  attempt(
    describeAttack(
      "sees and signals processes of the host by their numbers",
      "the container has its own process numbers; nothing outside is signaled",
    ),
    async () => ({
      through: await target.attack(`
import os
seen = [pid for pid in os.listdir("/proc") if pid.isdigit()]
if len(seen) > 10: print(len(seen))
for pid in (${process.pid}, ${process.ppid}):
    try: os.kill(pid, 0)
    except OSError: continue
    print(pid)`),
    }),
  );

  test("does not hide where its folder is on the host: mount tables show the path", async () => {
    const mounts = await target.attack("print(open('/proc/self/mountinfo').read())");
    expect(mounts.some((line) => line.includes(target.root))).toBe(true);
  });
});
