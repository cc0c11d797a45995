import { describe } from "vitest";
import { attempt } from "../support/attacks/attempt.ts";
import {
  isBubblewrapUsable,
  MEBIBYTE,
  openTarget,
  type Target,
} from "../support/attacks/bubblewrap-target.ts";
import { ATTACK_LIBRARY, hasGroups, measureGroups } from "../support/attacks/group-probe.ts";

const LIMIT = 128 * MEBIBYTE;
const surface = "cgroups";
const usable = (await hasGroups()) && (await isBubblewrapUsable());

/** Runs code and reports its memory if it used more than the limit and 32 MiB. */
async function exceedMemory(target: Target, code: string): Promise<readonly string[]> {
  await target.python(`${ATTACK_LIBRARY}${code}`, { timeoutMs: 6_000 });
  const { memory } = measureGroups();
  return memory <= LIMIT + 32 * MEBIBYTE ? [] : [`${memory / MEBIBYTE} of 128 MiB`];
}

describe.skipIf(!usable)("The memory of a container in a cgroup", () => {
  attempt(
    {
      finding: "C4",
      surface,
      as: "root",
      tries: "fill the buffers of thousands of socket pairs in many processes",
      shows: "Socket buffers are charged to the group, so they stay within the memory limit.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
def fill():
    kept = []
    for _ in range(480):
        try:
            a, b = socket.socketpair(); a.setblocking(False); kept += [a, b]
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
            while True: a.send(bytes(1 << 16))
        except OSError: pass
    time.sleep(1)
for _ in range(20): fork(fill)
time.sleep(2)`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "C4",
      surface,
      as: "root",
      tries: "slow the supervisor down with SCHED_IDLE and allocate memory meanwhile",
      shows: "The kernel holds the limit, whether or not the supervisor gets to run.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
libc.sched_setscheduler(1, 5, ctypes.byref(ctypes.c_int(0)))
def burn():
    while True: pass
def take():
    kept = [bytearray(b"x" * (1 << 20)) for _ in range(100)]; time.sleep(1)
for _ in range(6): fork(burn)
for _ in range(12): fork(take)
time.sleep(2)`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "C13",
      surface,
      as: "root",
      tries:
        "use the memory limit twice, in the interpreter and in a shell command at the same time",
      shows: "Both are in one group and share one budget.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      const take =
        "import time; kept = [b'x' * (1 << 20) + bytes([n]) for n in range(100)]; time.sleep(1)";
      await Promise.all([target.python(take), target.shell(`python3 -c "${take}"`)]);
      const { memory } = measureGroups();
      return { through: memory <= LIMIT + 32 * MEBIBYTE ? [] : [`${memory / MEBIBYTE} MiB`] };
    },
  );

  attempt(
    {
      finding: "C13",
      surface,
      as: "root",
      tries: "allocate in a burst in many processes, faster than anything can measure it",
      shows: "The burst ends at the limit, and the run is reported as out of memory.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
def take():
    m = mmap.mmap(-1, 96 << 20)
    for at in range(0, 96 << 20, 4096): m[at] = 1
    time.sleep(1)
for _ in range(16): fork(take)
time.sleep(1.5)`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "hold memory in page tables by touching one page in every 2 MiB of many mappings",
      shows: "Page tables are charged to the group.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
def touch():
    m = mmap.mmap(-1, 96 << 20)
    for at in range(0, 96 << 20, 2 << 20): m[at] = 1
    time.sleep(2)
for _ in range(24): fork(touch)
time.sleep(2)`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "hold memory in pipes enlarged to a megabyte each",
      shows: "Pipe buffers are charged to the group, and the host limits their size per user.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
import fcntl
def fill():
    kept = []
    for _ in range(400):
        try:
            r, w = os.pipe(); kept += [r, w]
            os.set_blocking(w, False)
            try: fcntl.fcntl(w, 1031, 1 << 20)
            except OSError: pass
            while True: os.write(w, bytes(65536))
        except OSError: pass
    time.sleep(1)
for _ in range(16): fork(fill)
time.sleep(2)`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "hold memory in memfd files and System V segments that belong to no process",
      shows: "They are charged to the group, or the calls are refused.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
kept = []
for n in range(40):
    try:
        f = os.memfd_create("x"); kept.append(f); os.write(f, bytes(8 << 20))
    except OSError: pass
libc.shmat.restype = ctypes.c_void_p
for n in range(40):
    i = libc.shmget(0, 8 << 20, 0o1600)
    if i >= 0:
        at = libc.shmat(i, None, 0)
        if at and at != ctypes.c_void_p(-1).value: ctypes.memset(at, 1, 8 << 20); libc.shmdt(ctypes.c_void_p(at))`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "fill the kernel's name cache with half a million lookups of missing files",
      shows: "The cache is charged to the group and shrinks within its limit.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      return {
        through: await exceedMemory(
          target,
          `
end = time.monotonic() + 3
n = 0
while n < 500000 and time.monotonic() < end:
    n += 1
    try: os.stat("/mnt/data/%s%d" % ("n" * 200, n))
    except OSError: pass`,
        ),
      };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "make the kernel kill the supervisor instead of the attacker when memory runs out",
      shows:
        "The scores cannot be changed in the attacker's favor, and the run ends with the memory limit as its reason.",
    },
    async () => {
      const target = await openTarget({ memoryBytes: LIMIT });
      const run = await target.python(
        `${ATTACK_LIBRARY}
for pid, score in ((1, "1000"), (os.getpid(), "-1000")):
    try:
        with open("/proc/%d/oom_score_adj" % pid, "w") as f: f.write(score)
    except OSError: pass
def take():
    m = mmap.mmap(-1, 100 << 20)
    for at in range(0, 100 << 20, 4096): m[at] = 1
    time.sleep(2)
for _ in range(4): fork(take)
m = mmap.mmap(-1, 90 << 20)
for at in range(0, 90 << 20, 4096): m[at] = 1
time.sleep(1)`,
        { timeoutMs: 6_000 },
      );
      const told = `${run.error ?? ""}${run.stderr}`;
      return { through: told.includes("bytes of memory") ? [] : [`reported as: ${told}`] };
    },
  );
});
