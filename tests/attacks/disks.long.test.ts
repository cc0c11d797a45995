import { existsSync, readdirSync, readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ContainerDisks } from "../../src/local/containers/disks/container-disks.ts";
import { findDiskSupport } from "../../src/local/containers/disks/find-disk-support.ts";
import { listMounts } from "../../src/local/containers/disks/list-mounts.ts";
import { unmountBelow } from "../../src/local/containers/disks/unmount-below.ts";
import { bubblewrapSandbox } from "../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import type { SandboxProcess } from "../../src/local/sandbox/sandbox.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { isBubblewrapUsable, MEBIBYTE } from "../support/attacks/bubblewrap-target.ts";
import { ATTACK_LIBRARY } from "../support/attacks/group-probe.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const LIMIT = 32 * MEBIBYTE;
const RUN = { timeoutMs: 10_000, maxOutputBytes: 20_000 };
const surface = "container disks";
const usable = (await findDiskSupport()).usable && (await isBubblewrapUsable());

/** A container on a disk of 32 MiB. */
interface Housed {
  readonly dataDir: string;
  readonly root: string;
  readonly disks: ContainerDisks;
  readonly container: SandboxProcess;
  /** Bytes of the host's disk that the image takes. */
  measure(): number;
}

async function openHoused(): Promise<Housed> {
  const dataDir = realpathSync(temporaryTree());
  const disks = new ContainerDisks({ dataDir, bytes: LIMIT });
  await disks.add("container");
  const root = disks.getRoot("container") ?? "";
  const container = await bubblewrapSandbox({ graceMs: 500 }).open({
    ...{ root, memoryBytes: 256 * MEBIBYTE, diskBytes: LIMIT, maxProcesses: 64 },
    require: "enforced",
  });
  onTestFinished(async () => {
    await container[Symbol.asyncDispose](); // again, in some attacks
    await disks[Symbol.asyncDispose]();
    await unmountBelow(dataDir);
  });
  const image = join(dataDir, "containers/container/disk.img");
  return { dataDir, root, disks, container, measure: () => statSync(image).blocks * 512 };
}

/** Runs code and reports what the image then takes of the host, if it is more than the limit and 32 MiB. */
async function exceedDisk(code: string): Promise<readonly string[]> {
  const { container, measure, root } = await openHoused();
  await container.python(`${ATTACK_LIBRARY}${code}`, RUN);
  const { blocks, bfree, bsize } = statfsSync(root);
  const used = Math.max(measure(), (blocks - bfree) * bsize);
  const after = await container.python("print(6 * 7)", RUN);
  return [
    ...(used <= LIMIT * 1.25 ? [] : [`${used / MEBIBYTE} of 32 MiB`]),
    ...(after.stdout === "42\n" ? [] : ["the next run failed"]),
  ];
}

async function tryInside(code: string): Promise<readonly string[]> {
  const { container } = await openHoused();
  const { stdout, error } = await container.python(`${ATTACK_LIBRARY}${code}`, RUN);
  if (error !== null) throw new Error(error);
  return stdout.split("\n").filter((line) => line.includes("through"));
}

describe.skipIf(!usable)("Container disks", () => {
  const filled: readonly (readonly [
    finding: string,
    tries: string,
    shows: string,
    code: string,
  ])[] = [
    [
      "C3",
      "reserve 3 GiB with fallocate",
      "The file system of the container is full at its limit.",
      `
for n in range(100):
    f = os.open("f%d" % n, os.O_CREAT | os.O_RDWR)
    try: os.posix_fallocate(f, 0, 32 << 20)
    except OSError: pass`,
    ],
    [
      "C3",
      "blind the supervisor with prlimit and write with many processes",
      "The limit does not depend on the supervisor.",
      `
libc.prlimit(1, 7, (ctypes.c_ulong * 2)(3, 3), None)
def write():
    with open("w%d" % os.getpid(), "wb", buffering=0) as f:
        while True: f.write(bytes(1 << 20))
for _ in range(10): fork(write)
time.sleep(1)`,
    ],
    [
      "C3",
      "hold deleted files with mappings only",
      "Deleted files use the space of the disk until they are closed.",
      `
kept = []
try:
    for n in range(100):
        f = os.open("m%d" % n, os.O_CREAT | os.O_RDWR)
        os.write(f, bytes(4 << 20))
        kept.append(mmap.mmap(f, 4 << 20)); os.unlink("m%d" % n); os.close(f)
except OSError: pass
time.sleep(0.3)`,
    ],
    [
      "C3",
      "hold deleted files in descriptors that are in flight between sockets",
      "Files in flight use the space of the disk as well.",
      `
import array
try:
    for n in range(100):
        f = os.open("s%d" % n, os.O_CREAT | os.O_RDWR); os.unlink("s%d" % n)
        os.write(f, bytes(4 << 20))
        a, b = socket.socketpair()
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f]))]); os.close(f)
except OSError: pass
time.sleep(0.3)`,
    ],
    [
      "own",
      "use up the disk with names only: empty files, long links and folders",
      "Entries use inodes and blocks of the container's own file system.",
      `
try:
    for n in range(100000):
        os.symlink("x" * 4000, "%s%d" % ("l" * 200, n)); os.mkdir("d%d" % n)
except OSError: pass
try:
    for n in range(100000): open("e%d" % n, "w").close()
except OSError: pass`,
    ],
    [
      "own",
      "hide data in extended attributes",
      "Attributes are stored in blocks of the container's own file system.",
      `
try:
    for n in range(20000):
        open("a%d" % n, "w").close()
        for name in "abcdefgh": os.setxattr("a%d" % n, "user." + name, bytes(400))
except OSError: pass`,
    ],
    [
      "own",
      "dirty pages of a sparse mapping faster than the kernel reserves blocks for them",
      "Pages without a block are lost with a bus error, and the disk does not grow.",
      `
def dirty():
    f = os.open("p%d" % os.getpid(), os.O_CREAT | os.O_RDWR)
    os.ftruncate(f, 30 << 20)
    m = mmap.mmap(f, 30 << 20)
    for at in range(0, 30 << 20, 4096): m[at] = 1
for _ in range(6): fork(dirty)
time.sleep(2)`,
    ],
    [
      "own",
      "grow the disk from inside with ext4's resize calls",
      "The calls need capabilities that the container does not have.",
      `
import fcntl
f = os.open("/mnt/data", os.O_RDONLY)
for number, value in ((0x40086610, (1 << 20).to_bytes(8, "little")), (0x40046607, (1 << 20).to_bytes(8, "little"))):
    try: fcntl.ioctl(f, number, value)
    except OSError: pass
with open("big", "wb", buffering=0) as big:
    try:
        while True: big.write(bytes(1 << 20))
    except OSError: pass`,
    ],
    [
      "own",
      "write, delete and write again, so that freed blocks stay allocated on the host",
      "The image has a fixed size, so blocks that were freed and used again do not add up.",
      `
for n in range(12):
    with open("again%d" % n, "wb", buffering=0) as f:
        try:
            while True: f.write(os.urandom(1 << 20))
        except OSError: pass
    os.unlink("again%d" % n)`,
    ],
  ];
  for (const [finding, tries, shows, code] of filled) {
    const as = finding === "own" ? undefined : "root";
    attempt({ finding, surface, as, tries, shows }, async () => ({
      through: await exceedDisk(code),
    }));
  }

  attempt(
    {
      finding: "own",
      surface,
      tries: "create a sparse file that is larger than the disk",
      shows: "No file can be larger than the limit.",
    },
    async () => ({
      through: await tryInside(`
f = os.open("sparse", os.O_CREAT | os.O_RDWR)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for size in (1 << 40, 1 << 30, 33 << 20):
    try: os.ftruncate(f, size); print("through", size)
    except OSError: pass
try: os.pwrite(f, b"x", 1 << 33); print("through write")
except OSError: pass`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "create device nodes on the disk, and gain rights with set-user-id files",
      shows:
        "mknod is refused, and the disk is mounted with nodev and nosuid, inside and on the host.",
    },
    async () => {
      const { container, dataDir } = await openHoused();
      const { stdout } = await container.python(
        `${ATTACK_LIBRARY}
import shutil, stat, subprocess
for name, kind, device in (("null", stat.S_IFCHR, (1, 3)), ("disk", stat.S_IFBLK, (7, 0))):
    try: os.mknod(name, kind | 0o666, os.makedev(*device)); print("through", name)
    except OSError: pass
shutil.copy("/usr/bin/id", "id")
try: os.chmod("id", 0o6755)
except OSError: pass
os.chown("id", os.getuid(), os.getgid())
if subprocess.run(["./id", "-u"], capture_output=True, text=True).stdout.strip() == "0": print("through suid")`,
        RUN,
      );
      const [line = ""] = readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((one) => one.includes(`${dataDir}/containers/container/disk `));
      const options = (line.split(" ")[5] ?? "").split(",");
      const missing = ["nosuid", "nodev"].filter((option) => !options.includes(option));
      return { tried: 4, through: [...stdout.split("\n").filter(Boolean), ...missing] };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "reach the image, the folder for uploads or the top of the disk from /mnt/data",
      shows: "Only the data folder of the disk is mounted in the sandbox.",
    },
    async () => ({
      through: await tryInside(`
for path in ("/mnt/incoming", "/mnt/disk.img", "/mnt/data/../incoming", "/mnt/data/../disk.img", "/mnt/data/lost+found"):
    if os.path.lexists(path): print("through", path)
if os.listdir("/mnt") != ["data"]: print("through", os.listdir("/mnt"))
for name in os.listdir("/dev"):
    if "loop" in name or "sd" in name or "vd" in name: print("through", name)`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "replace /mnt/data with a link, so that the host mounts or writes elsewhere",
      shows: "The mount point cannot be renamed or removed from inside.",
    },
    async () => ({
      tried: 3,
      through: await tryInside(`
for work in (lambda: os.rename("/mnt/data", "/mnt/x"), lambda: os.rmdir("/mnt/data"), lambda: os.symlink("/etc", "/mnt/y")):
    try: work(); print("through")
    except OSError: pass`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "freeze, shut down or trim the file system to hang the host",
      shows: "FIFREEZE, EXT4_IOC_SHUTDOWN and FITRIM need rights that the container does not have.",
    },
    async () => ({
      tried: 3,
      through: await tryInside(`
import fcntl
f = os.open("/mnt/data", os.O_RDONLY)
for number in (0xC0045877, 0x8004587D, 0xC0185879):
    try: fcntl.ioctl(f, number, bytearray(64)); print("through", hex(number))
    except OSError: pass`),
    }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "keep the disk busy with open files and a working folder when the container is deleted",
      shows:
        "All processes are killed first, the disk is unmounted, and the folder can be removed.",
    },
    async () => {
      const { container, dataDir, disks } = await openHoused();
      await container.python(
        `${ATTACK_LIBRARY}
def hold():
    kept = [open("h%d" % n, "w") for n in range(20)]; os.chdir("/mnt/data"); time.sleep(60)
for _ in range(4): fork(hold)
time.sleep(0.1)`,
        RUN,
      );
      await container[Symbol.asyncDispose]();
      await disks.release("container");
      return { through: listMounts(join(dataDir, "containers")) };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "leave a tree that cannot be deleted: immutable flags, no permissions and deep folders",
      shows: "The disk is dropped as one file, without walking the tree.",
    },
    async () => {
      const { container, dataDir, disks } = await openHoused();
      await container.python(
        `${ATTACK_LIBRARY}
import fcntl
open("fixed", "w").close()
f = os.open("fixed", os.O_RDONLY)
try: fcntl.ioctl(f, 0x40086602, (0x10).to_bytes(8, "little"))
except OSError: pass
for n in range(300):
    os.mkdir("d"); os.chdir("d")
os.chdir("/mnt/data"); os.mkdir("closed"); os.chmod("closed", 0)`,
        RUN,
      );
      await container[Symbol.asyncDispose]();
      await disks.release("container");
      const { removeUntrustedFolder } = await import(
        "../../src/local/containers/remove-untrusted-folder.ts"
      );
      await removeUntrustedFolder(join(dataDir, "containers/container"));
      return { through: readdirSync(join(dataDir, "containers")) };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "plant links and special files for the next start to follow when it mounts the disk again",
      shows: "The next start mounts the same disk at the same place; what is inside stays inside.",
    },
    async () => {
      const { container, dataDir, disks, root } = await openHoused();
      await container.python(
        'import os\nos.symlink("/etc", "etc")\nos.mkfifo("pipe")\nos.symlink("/", "disk")\nopen("kept", "w").write("x")',
        RUN,
      );
      await container[Symbol.asyncDispose]();
      await disks[Symbol.asyncDispose]();
      const hidden = existsSync(join(root, "kept")) ? ["still mounted"] : [];
      await using again = new ContainerDisks({ dataDir, bytes: LIMIT });
      await again.mount("container");
      const kept = readFileSync(join(root, "kept"), "utf8") === "x" ? [] : ["lost"];
      const mounts = listMounts(dataDir).filter(
        (mount) => !mount.startsWith(`${dataDir}/containers/container/disk`),
      );
      return { through: [...hidden, ...kept, ...mounts] };
    },
  );
});
