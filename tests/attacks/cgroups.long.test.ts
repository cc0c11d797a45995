import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, onTestFinished } from "vitest";
import { CgroupControl } from "../../src/local/sandbox/cgroups/cgroup-control.ts";
import { findResourceControl } from "../../src/local/sandbox/cgroups/find-resource-control.ts";
import { attempt } from "../support/attacks/attempt.ts";
import {
  isBubblewrapUsable,
  MEBIBYTE,
  openTarget,
  type Target,
} from "../support/attacks/bubblewrap-target.ts";
import {
  ATTACK_LIBRARY,
  hasGroups,
  listGroups,
  measureGroups,
} from "../support/attacks/group-probe.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const LIMIT = 128 * MEBIBYTE;
const surface = "cgroups";
const usable = (await hasGroups()) && (await isBubblewrapUsable());

/** Runs code that prints "through" for each step that succeeded. */
async function tryInside(code: string): Promise<readonly string[]> {
  const target = await openTarget({ memoryBytes: LIMIT * 2 });
  const { stdout } = await target.python(`${ATTACK_LIBRARY}${code}`);
  return stdout.split("\n").filter((line) => line.includes("through"));
}

const COUNTER = `
def count():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with open("/mnt/data/counter", "wb", buffering=0) as f:
        while True: f.write(b"."); time.sleep(0.005)
`;

async function grows(target: Target, ms = 400): Promise<readonly string[]> {
  const measure = () =>
    statSync(join(target.root, "counter"), { throwIfNoEntry: false })?.size ?? 0;
  await sleep(150); // the group is frozen 50 ms after the run
  const before = measure();
  if (before === 0) throw new Error("The attack did not start.");
  await sleep(ms);
  const after = measure();
  return after > before ? [`${after - before} writes between runs`] : [];
}

describe.skipIf(!usable)("Containers in cgroups", () => {
  attempt(
    {
      finding: "C2",
      surface,
      as: "root",
      tries: "wake a stopped process between runs with a POSIX timer that sends SIGCONT",
      shows: "The group is frozen while no run is in progress, so the woken process does not run.",
    },
    async () => {
      const target = await openTarget();
      await target.python(`${ATTACK_LIBRARY}${COUNTER}
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 48)]
def wake():
    event, timer = Event(None, signal.SIGCONT, 0), ctypes.c_void_p()
    libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer))
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 20000000, 0, 20000000), None)
    count()
fork(wake); time.sleep(0.1)`);
      return { through: await grows(target) };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "find a cgroup.procs file to leave the group",
      shows: "No cgroup file system is mounted in the sandbox.",
    },
    async () => ({
      through: await tryInside(`
for line in open("/proc/self/mountinfo"):
    if "cgroup" in line: print("through", line)
for folder in ("/sys/fs/cgroup", "/sys", "/run"):
    if os.path.exists(folder): print("through", folder)`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "mount the cgroup file systems of version 1 and 2 inside the sandbox",
      shows: "The calls mount, fsopen and move_mount are refused.",
    },
    async () => ({
      tried: 4,
      through: await tryInside(`
os.makedirs("/tmp/c", exist_ok=True)
for kind, data in ((b"cgroup2", None), (b"cgroup", b"memory"), (b"cgroup", b"pids")):
    if libc.mount(b"none", b"/tmp/c", kind, 0, data) == 0: print("through", kind)
print(call(430, ctypes.c_char_p(b"cgroup2"), 0))`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "create namespaces for users, mounts and cgroups in order to mount cgroups there",
      shows: "New namespaces are refused, singly and together.",
    },
    async () => ({
      tried: 4,
      through: await tryInside(`
for flags in (0x10000000, 0x02000000, 0x00020000, 0x12020000):
    print(call(272, flags))`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "start a process directly in another group with clone3 and CLONE_INTO_CGROUP",
      shows: "clone3 is refused, and no descriptor of another group can be opened.",
    },
    async () => ({
      through: await tryInside(`
fd = os.open("/", os.O_RDONLY)
args = (ctypes.c_uint64 * 11)(0x200000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, fd)
print(call(435, ctypes.byref(args), 88))`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "read from /proc/self/cgroup where on the host the container runs",
      shows: "The sandbox has its own cgroup namespace and sees only the root of it.",
    },
    async () => ({
      through: await tryInside(`
for line in open("/proc/self/cgroup"):
    if line.strip().split(":", 2)[2] != "/": print("through", line)`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "leave the group by detaching: two forks, a new session, and the parents gone",
      shows: "Every descendant stays in the group and is frozen with it.",
    },
    async () => {
      const target = await openTarget();
      await target.python(`${ATTACK_LIBRARY}${COUNTER}
def detach():
    os.setsid()
    fork(count)
fork(detach); time.sleep(0.2)`);
      return { through: await grows(target) };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "send SIGCONT from the host to every process of an idle container",
      shows: "Freezing does not depend on signals: nothing continues.",
    },
    async () => {
      const target = await openTarget();
      await target.python(
        `${ATTACK_LIBRARY}${COUNTER}\nfor _ in range(3): fork(count)\ntime.sleep(0.1)`,
      );
      await sleep(150);
      for (const pid of measureGroups().processes) process.kill(pid, "SIGCONT");
      const through = await grows(target);
      await target.python("1"); // may find that the sandbox was ended
      return { through };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "keep forking while the run ends, so that a new process escapes the freeze",
      shows: "The number of processes and their work stand still after the freeze.",
    },
    async () => {
      const target = await openTarget();
      await target.python(`${ATTACK_LIBRARY}
def chain():
    while True:
        with open("/mnt/data/counter", "ab", buffering=0) as f: f.write(b".")
        try:
            if os.fork(): os._exit(0)
        except OSError: time.sleep(0.001)
for _ in range(4): fork(chain)
time.sleep(0.05)`);
      return { through: await grows(target) };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "exceed the process limit with threads and zombies together",
      shows: "The group counts threads and zombies as well; the limit holds.",
    },
    async () => {
      const target = await openTarget({ maxProcesses: 16 });
      const run = target.python(`${ATTACK_LIBRARY}
import threading
made = 0
for n in range(400):
    try:
        if n % 2: threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
        elif os.fork() == 0: os._exit(0)
        made += 1
    except (OSError, RuntimeError): pass
print(made); time.sleep(0.5)`);
      const { stdout } = await run;
      return { through: Number(stdout) <= 24 ? [] : [`${stdout.trim()} of 16`] };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "keep the group busy so that it cannot be removed: vfork, stopped and traced processes",
      shows:
        "Everything in the group is killed at once, and the group is removed with the container.",
    },
    async () => {
      const before = listGroups().length;
      const { bubblewrapSandbox } = await import(
        "../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts"
      );
      const container = await bubblewrapSandbox().open({
        root: realpathSync(temporaryTree()),
        memoryBytes: LIMIT,
      });
      await container.python(
        `${ATTACK_LIBRARY}
def stop(): os.kill(os.getpid(), signal.SIGSTOP)
def ignore():
    for n in range(1, 31):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
    time.sleep(60)
def trace():
    libc.ptrace(0, 0, 0, 0); os.kill(os.getpid(), signal.SIGSTOP)
for work in (stop, ignore, trace): fork(work)
time.sleep(0.1)`,
        { timeoutMs: 3_000, maxOutputBytes: 100 },
      );
      await sleep(150);
      await container[Symbol.asyncDispose]();
      const left = listGroups().slice(before);
      return { through: left };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "kill the server with SIGKILL while its container is frozen",
      shows: "The frozen processes are killed with it, and the next process removes the group.",
    },
    async () => {
      const root = realpathSync(temporaryTree());
      const module = new URL(
        "../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts",
        import.meta.url,
      );
      const program = `
        import { bubblewrapSandbox } from ${JSON.stringify(module.href)};
        const container = await bubblewrapSandbox().open({ root: ${JSON.stringify(root)}, memoryBytes: 2 ** 28 });
        const run = await container.python("import os; os.fork()", { timeoutMs: 9000, maxOutputBytes: 10 });
        setTimeout(() => console.log("idle"), 150); setInterval(() => {}, 1000);`;
      const server = spawn(process.execPath, ["--input-type=module", "-e", program]);
      await new Promise((resolve) => server.stdout.once("data", resolve));
      const groups = listGroups().map((path) => dirname(path));
      const { control } = await findResourceControl();
      server.kill("SIGKILL");
      await new Promise((resolve) => server.once("exit", resolve));
      if (control instanceof CgroupControl) await control.sweep();
      const name = `weakincentives_${server.pid}_`;
      const folders = [
        "/sys/fs/cgroup/pids",
        "/sys/fs/cgroup/unified",
        "/sys/fs/cgroup",
        ...groups,
      ];
      const { readdirSync } = await import("node:fs");
      const left = folders
        .filter((folder) => existsSync(folder))
        .flatMap((folder) => readdirSync(folder).filter((one) => one.startsWith(name)));
      return { through: left };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "let the cleanup after a crash remove groups with similar names or of a running process",
      shows: "Only groups whose owner has certainly ended are removed.",
    },
    async () => {
      const { control } = await findResourceControl();
      const group = control?.createGroup({ memoryBytes: LIMIT, processes: 8 });
      const [own = ""] = listGroups();
      const similar = [
        "weakincentives",
        "weakincentives_1",
        "weakincentives_999999_x_1_elsewhere",
        "other_999999_x_1_vm",
      ].map((name) => join(dirname(own), name));
      for (const folder of similar) mkdirSync(folder);
      onTestFinished(() => {
        for (const folder of similar) rmdirSync(folder);
      });
      if (control instanceof CgroupControl) await control.sweep();
      const removed = [own, ...similar].filter((folder) => !existsSync(folder));
      await group?.remove();
      return { tried: similar.length + 1, through: removed };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "run code before the process has entered the group, through the environment of the shell that enters it",
      shows:
        "The shell gets a fixed environment, and everything it starts is in the group from its first instruction.",
    },
    async () => {
      const folder = temporaryTree({ "evil.sh": "touch $0.ran" });
      process.env["ENV"] = `${folder}/evil.sh`;
      process.env["BASH_ENV"] = `${folder}/evil.sh`;
      onTestFinished(() => {
        delete process.env["ENV"];
        delete process.env["BASH_ENV"];
      });
      const target = await openTarget();
      await target.shell("true");
      const { stdout } = await target.shell("env");
      const leaked = stdout.split("\n").filter((line) => /ENV=|XDG_RUNTIME|DBUS/.test(line));
      const group = listGroups()[0] ?? "";
      const isInside = readFileSync(join(group, "cgroup.procs"), "latin1") !== "";
      return {
        through: [
          ...leaked,
          ...(existsSync(`${folder}/evil.sh.ran`) ? ["ran"] : []),
          ...(isInside ? [] : ["outside"]),
        ],
      };
    },
  );
});
