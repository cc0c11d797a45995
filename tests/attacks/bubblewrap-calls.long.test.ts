import { describe } from "vitest";
import { ALLOWED_CALLS } from "../../src/local/sandbox/seccomp/allowed-calls.ts";
import { CALL_RULES } from "../../src/local/sandbox/seccomp/call-rules.ts";
import { SYSTEM_CALLS } from "../../src/local/sandbox/seccomp/system-calls.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { isBubblewrapUsable, openTarget } from "../support/attacks/bubblewrap-target.ts";
import { buildCallsProgram, type SystemCallCase } from "../support/attacks/system-calls.ts";

const EPERM = 1;
const EINVAL = 22;
const ENOTTY = 25;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

/** Calls that have no rule and are in no list. Each is made with zeros. */
const UNLISTED: readonly SystemCallCase[] = [...(SYSTEM_CALLS.get(process.arch)?.keys() ?? [])]
  .filter((name) => !ALLOWED_CALLS.includes(name))
  .filter((name) => CALL_RULES.every(({ names }) => !names.includes(name)))
  .map((name) => ({ name, errno: EPERM }));

const refuseAll = (
  errno: number,
  name: string,
  ...args: readonly (readonly (number | string)[])[]
) => args.map((given) => ({ name, args: given, errno }));

const usable = await isBubblewrapUsable();

for (const as of ["root", "user"] as const) {
  describe.skipIf(!usable || (as === "root" && process.getuid?.() !== 0))(
    `System calls in bubblewrap, as ${as}`,
    () => {
      /** Declares an attack that makes each call once; those that do not end in their error got through. */
      function attemptCalls(
        finding: string,
        tries: string,
        shows: string,
        cases: readonly SystemCallCase[],
      ): void {
        attempt({ finding, surface: "system calls", as, tries, shows }, async () => {
          const target = await openTarget({ as });
          const { stdout, error } = await target.python(buildCallsProgram(cases));
          const through = stdout.split("\n").filter((line) => line.startsWith("THROUGH"));
          if (!stdout.includes(`done ${cases.length}`)) through.push(`it ended early: ${error}`);
          return { tried: cases.length, through };
        });
      }

      attemptCalls(
        "own",
        "every system call that is not on the allow list, one by one, by its number",
        "Each of them fails with EPERM, among them mount, ptrace, bpf, unshare, keyctl, io_uring and userfaultfd.",
        UNLISTED,
      );
      attemptCalls(
        "C2",
        "to get SIGCONT from the kernel: timers, inotify, F_SETSIG, F_SETOWN, leases, message queues",
        "Each call that makes the kernel send a signal of the code's choice is refused.",
        [
          ...refuseAll(ENOSYS, "timer_create", [1, "buffer", "buffer"]),
          ...refuseAll(ENOSYS, "inotify_init1", [0]),
          ...refuseAll(EPERM, "timer_settime", [0, 0, "buffer", 0]),
          ...refuseAll(EPERM, "inotify_add_watch", ["file", "buffer", 2]),
          ...refuseAll(EPERM, "mq_open", ["buffer", 66, 384, 0]),
          ...refuseAll(EPERM, "mq_notify", [0, "buffer"]),
          // SETOWN, SETSIG, SETOWN_EX, SETLEASE, NOTIFY, and SETFL with O_ASYNC.
          ...refuseAll(EPERM, "fcntl", ["own", 8, 1], ["own", 10, 18], ["own", 15, "buffer"]),
          ...refuseAll(EPERM, "fcntl", ["file", 1024, 1], ["file", 1026, 2], ["own", 4, 0x2000]),
          // FIOASYNC, FIOSETOWN, SIOCSPGRP.
          ...refuseAll(ENOTTY, "ioctl", ["own", 0x5452, "buffer"], ["own", 0x8901, "buffer"]),
          ...refuseAll(ENOTTY, "ioctl", ["own", 0x8902, "buffer"]),
        ],
      );
      attemptCalls(
        "C3",
        "fallocate in each mode, and prlimit on process 1 and on its parent",
        "fallocate is not supported, so that callers write instead, and only one's own limits can be set.",
        [
          ...refuseAll(EOPNOTSUPP, "fallocate", ["file", 0, 0, 1 << 30], ["file", 1, 0, 1 << 30]),
          ...refuseAll(EPERM, "prlimit64", [1, 7, "buffer", 0], ["os.getppid()", 1, "buffer", 0]),
          ...refuseAll(EPERM, "prlimit64", ["os.getpid()", 9, "buffer", 0]),
        ],
      );
      attemptCalls(
        "C4",
        "network sockets, larger socket buffers, and the scheduling of other processes",
        "Only unix sockets exist, their buffers keep their size, and scheduling cannot be changed.",
        [
          ...[2, 10, 16, 17, 38, 40].flatMap((family) =>
            [1, 2, 3].map((type) => ({
              ...{ name: "socket", args: [family, type, 0], errno: EAFNOSUPPORT },
            })),
          ),
          // SNDBUF, RCVBUF, SNDBUFFORCE, RCVBUFFORCE, ATTACH_FILTER, ZEROCOPY.
          ...[7, 8, 32, 33, 26, 60].flatMap((option) =>
            refuseAll(EPERM, "setsockopt", ["own", 1, option, "buffer", 4]),
          ),
          ...refuseAll(EPERM, "sched_setscheduler", [1, 5, "buffer"], [0, 5, "buffer"]),
          ...refuseAll(EPERM, "sched_setparam", [1, "buffer"]),
          ...refuseAll(EPERM, "sched_setattr", [1, "buffer", 0]),
          ...refuseAll(EPERM, "sched_setaffinity", [1, 8, "buffer"], [0, 8, "buffer"]),
          ...refuseAll(EPERM, "setpriority", [0, 1, 19], [1, 0, 19], [2, 0, 19]),
          ...refuseAll(EPERM, "ioprio_set", [1, 1, 0x6000]),
        ],
      );
      attemptCalls(
        "C10",
        "inotify instances, and a pseudo-terminal of the host's user",
        "inotify does not exist, and neither do /dev/ptmx and /dev/pts.",
        [
          ...refuseAll(ENOSYS, "inotify_init", []),
          ...refuseAll(ENOSYS, "inotify_init1", [0x800]),
          ...refuseAll(2, "openat", [-100, "ctypes.cast(b'/dev/ptmx', ctypes.c_void_p).value", 2]),
          ...refuseAll(2, "openat", [-100, "ctypes.cast(b'/dev/pts', ctypes.c_void_p).value", 0]),
          ...refuseAll(2, "openat", [-100, "ctypes.cast(b'/dev/tty', ctypes.c_void_p).value", 0]),
        ],
      );
      attemptCalls(
        "C13",
        "PR_SET_PDEATHSIG with SIGCONT, so that a parent's death wakes its stopped child",
        "Only SIGKILL and SIGTERM can be requested at a parent's death.",
        refuseAll(EPERM, "prctl", ...[18, 19, 1, 2, 10, 64].map((signal) => [1, signal])),
      );
      attemptCalls(
        "own",
        "clone with SIGCONT as the signal that the parent gets at the child's end",
        "clone accepts SIGCHLD or no signal; every other one is refused before a process exists.",
        refuseAll(EPERM, "clone", ...[18, 9, 1, 64].map((signal) => [signal, 0, 0, 0, 0])),
      );
      attemptCalls(
        "own",
        "each kind of namespace through clone's flags, and clone3, whose flags a filter cannot read",
        "Every namespace flag is refused, and clone3 does not exist, so callers fall back to clone.",
        [
          ...[17, 25, 26, 27, 28, 29, 30].flatMap((bit) =>
            refuseAll(EPERM, "clone", [2 ** bit + 17, 0, 0, 0, 0]),
          ),
          ...refuseAll(ENOSYS, "clone3", ["buffer", 88], ["buffer", 64]),
        ],
      );
      attemptCalls(
        "own",
        "pages of the host's pool of huge pages (MAP_HUGETLB), in three sizes",
        "mmap refuses MAP_HUGETLB in every size.",
        refuseAll(
          EPERM,
          "mmap",
          ...[0, 21 << 26, 30 * 2 ** 26].map((size) => [0, 1 << 21, 3, 0x4_0022 + size, -1, 0]),
        ),
      );
      attemptCalls(
        "own",
        "vmsplice, splice, tee and sendfile, which keep pages alive inside a pipe",
        "All four fail with EINVAL, the error at which programs copy instead.",
        [
          ...refuseAll(EINVAL, "vmsplice", ["own", "buffer", 1, 0]),
          ...refuseAll(EINVAL, "splice", ["file", 0, "own", 0, 10, 0]),
          ...refuseAll(EINVAL, "tee", ["own", "peer", 10, 0]),
          ...refuseAll(EINVAL, "sendfile", ["own", "file", 0, 10]),
        ],
      );
      attemptCalls(
        "own",
        "space in extended attributes, which no count of file sizes includes",
        "Setting an attribute is not supported.",
        [
          ...refuseAll(EOPNOTSUPP, "setxattr", ["buffer", "buffer", "buffer", 100, 0]),
          ...refuseAll(EOPNOTSUPP, "lsetxattr", ["buffer", "buffer", "buffer", 100, 0]),
          ...refuseAll(EOPNOTSUPP, "fsetxattr", ["file", "buffer", "buffer", 100, 0]),
        ],
      );
      attemptCalls(
        "own",
        "its own seccomp filter, to see or answer the calls of processes that it starts",
        "Neither seccomp nor prctl(PR_SET_SECCOMP) installs a filter.",
        [
          ...refuseAll(EINVAL, "seccomp", [1, 0, "buffer"], [1, 8, "buffer"], [0, 0, 0]),
          ...refuseAll(EPERM, "prctl", [22, 2, "buffer"], [22, 1, 0]),
        ],
      );
      attemptCalls(
        "own",
        "options of prctl that change memory maps, capabilities, keep rights or trace others",
        "PR_SET_MM, PR_SET_PTRACER, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_SET_SECUREBITS and their kin are refused.",
        refuseAll(
          EPERM,
          "prctl",
          ...[8, 24, 28, 35, 47, 53, 55, 59, 62, 65, 0x5961_6d61].map((option) => [
            option,
            1,
            0,
            0,
            0,
          ]),
        ),
      );
      attemptCalls(
        "own",
        "device nodes of a disk, of memory and of a terminal, with mknod and mknodat",
        "Block and character devices are refused; FIFOs and files are not.",
        [
          ...refuseAll(EPERM, "mknod", ["buffer", 0o60666, 0x800], ["buffer", 0o20666, 0x101]),
          ...refuseAll(EPERM, "mknodat", [-100, "buffer", 0o60666, 0x800]),
        ],
      );
      attemptCalls(
        "own",
        "larger pipes, and more memory locked than is counted",
        "F_SETPIPE_SZ, mlock, mlock2 and mlockall are refused.",
        [
          ...refuseAll(EPERM, "fcntl", ["own", 1031, 1 << 20]),
          ...refuseAll(EPERM, "mlock", ["buffer", 4096]),
          ...refuseAll(EPERM, "mlock2", ["buffer", 4096, 1]),
          ...refuseAll(EPERM, "mlockall", [3]),
        ],
      );
      attemptCalls(
        "own",
        "an execution domain without address randomization or with executable stacks",
        "personality can be read and set to the default only.",
        refuseAll(EPERM, "personality", [0x0040000], [0x0400000], [8], [0x20008]),
      );
      attempt(
        {
          ...{ finding: "own", surface: "system calls", as },
          tries: "system calls by other numbers: the 32-bit table through int 0x80, and x32",
          shows: "Calls with the x32 bit and calls through the 32-bit table end in EPERM.",
        },
        async () => {
          const target = await openTarget({ as });
          const { stdout } = await target.python(X32_CALLS);
          return {
            tried: 4,
            through: stdout.split("\n").filter((line) => line.includes("THROUGH")),
          };
        },
        { skip: process.arch !== "x64" },
      );
      attempt(
        {
          ...{ finding: "own", surface: "system calls", as },
          tries: "to flush the disks of the whole host with sync and syncfs, again and again",
          shows: "sync does nothing, syncfs is refused, and fsync of an own file works.",
        },
        async () => {
          const target = await openTarget({ as });
          const run = await target.python(
            "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nos.sync()\n" +
              "file = os.open('/tmp/a', os.O_RDWR | os.O_CREAT)\nos.fsync(file)\nprint(libc.syncfs(file), ctypes.get_errno())",
          );
          return { tried: 2, through: run.stdout === "-1 1\n" ? [] : [run.stdout + run.error] };
        },
      );
    },
  );
}

/** `int 0x80` in memory that is first written, then made executable; and numbers with the x32 bit. */
const X32_CALLS = `
import ctypes, mmap, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in (0, 39, 56):
    if libc.syscall(ctypes.c_long(0x40000000 + number), 0, 0, 0) != -1 or ctypes.get_errno() != 1:
        print("THROUGH x32", number)
# mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex("b814000000cd80c3"))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
if call() != -1:
    print("THROUGH int 0x80")
`;
