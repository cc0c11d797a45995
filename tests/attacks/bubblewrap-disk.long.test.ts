import { readdirSync, statSync } from "node:fs";
import { describe } from "vitest";
import { attackContainer, findExcess, measureUsage } from "../support/attacks/attack-programs.ts";
import { isBubblewrapUsable } from "../support/attacks/bubblewrap-target.ts";

const LIMIT = 32;

describe.skipIf(!(await isBubblewrapUsable()))("The disk limit of bubblewrap", () => {
  attackContainer({
    finding: "C3",
    tries: "fallocate takes 3 GiB at once",
    shows: "`fallocate` is refused.",
    work: async (target) => {
      await measureUsage(target, FALLOCATE);
      const kept = readdirSync(target.root).map(
        (name) => statSync(`${target.root}/${name}`).blocks,
      );
      return findExcess(
        "files",
        kept.reduce((sum, blocks) => sum + blocks / 2048, 0),
        LIMIT,
      );
    },
  });

  attackContainer({
    finding: "C3",
    tries: "prlimit takes the supervisor's descriptors, so that it cannot look",
    shows: "Changing the limits of another process is refused.",
    work: async (target) => findExcess("files", await measureUsage(target, BLINDED), LIMIT),
  });

  attackContainer({
    finding: "C3",
    tries: "deleted files are held by mappings only",
    shows: "The mapping is found in /proc; from then on, everything written counts.",
    work: async (target) => findExcess("files", await measureUsage(target, MAPPED), LIMIT),
  });

  attackContainer({
    finding: "C3",
    tries: "deleted files are held by descriptors in flight between sockets",
    shows:
      "The sockets tell that descriptors are in flight; from then on, everything written counts.",
    work: async (target) => findExcess("files", await measureUsage(target, IN_FLIGHT), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "descriptors in flight on a socket that is itself in flight, so that no process has any of them",
    shows:
      "The number of sockets tells that some are hidden; from then on, everything written counts.",
    work: async (target) => findExcess("files", await measureUsage(target, NESTED), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "processes whose parent does not wait for them write the files, so that their counts are lost",
    shows: "The free space of the disk tells, and the files are counted.",
    work: async (target) => findExcess("files", await measureUsage(target, UNAWAITED), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries:
      "a process that shares the memory of the interpreter, but not its descriptors, holds deleted files",
    shows: "The descriptors of every process and thread are counted.",
    work: async (target) => findExcess("files", await measureUsage(target, SHARED_MEMORY), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "pages of a sparse file are written through a shared mapping",
    shows: "Pages written through a mapping count like written bytes.",
    work: async (target) => findExcess("files", await measureUsage(target, DIRTY_PAGES), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "a burst of writes by eight processes at once",
    shows:
      "The bytes written are read every few milliseconds, and everything is stopped while the files are counted.",
    work: async (target) => findExcess("files", await measureUsage(target, BURST), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "copy_file_range multiplies a file without writing",
    shows: "Copies count like written bytes.",
    work: async (target) => findExcess("files", await measureUsage(target, COPIES), LIMIT),
  });

  attackContainer({
    finding: "own",
    tries: "short commands each add a little, so that none of them is long enough to be measured",
    shows: "What was added is compared with the limit at the end of each command.",
    work: async (target) => {
      for (let round = 0; round < 40; round++) {
        await target.shell(`head -c 4000000 /dev/zero > f${round}`);
      }
      const sizes = readdirSync(target.root).map((name) => statSync(`${target.root}/${name}`).size);
      await target.shell("rm -f f*");
      return findExcess("files", sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20, LIMIT);
    },
  });
});

const FALLOCATE = `
handle = os.open("big", os.O_CREAT | os.O_RDWR)
resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
for i in range(100):
    part = os.open("part%d" % i, os.O_CREAT | os.O_RDWR)
    libc.fallocate(part, 0, ctypes.c_long(0), ctypes.c_long(31 * MIB))
time.sleep(1)
`;

const BLINDED = `
try:
    resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
except (OSError, ValueError):
    pass
for i in range(300):
    with open("f%d" % i, "wb") as file:
        file.write(bytes(MIB))
    report(i)
`;

const MAPPED = `
held = []
libc.mmap.restype = ctypes.c_void_p
for i in range(400):
    handle = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.write(handle, bytes(MIB))
    held.append(libc.mmap(None, 4096, 1, 1, handle, 0))
    os.unlink("gone")
    os.close(handle)
    report(i)
    time.sleep(0.002)
`;

const IN_FLIGHT = `
held = []
for i in range(400):
    if i % 100 == 0:
        left, right = socket.socketpair()
        held.append((left, right))
    handle = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.write(handle, bytes(MIB))
    os.unlink("gone")
    socket.send_fds(left, [b"x"], [handle])
    os.close(handle)
    report(i)
    time.sleep(0.002)
`;

const NESTED = `
outer = socket.socketpair()
for i in range(400):
    inner = socket.socketpair()
    handle = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.write(handle, bytes(MIB))
    os.unlink("gone")
    socket.send_fds(inner[0], [b"x"], [handle])
    os.close(handle)
    socket.send_fds(outer[0], [b"x"], [inner[0].fileno(), inner[1].fileno()])
    inner[0].close(); inner[1].close()
    report(i)
    time.sleep(0.002)
`;

const UNAWAITED = `
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(400):
    if os.fork() == 0:
        with open("f%d" % i, "wb") as file:
            file.write(bytes(MIB))
        os._exit(0)
    time.sleep(0.003)
    report(len(os.listdir(".")))
`;

const SHARED_MEMORY = `
STACK = ctypes.create_string_buffer(MIB)
def main(argument):
    for i in range(400):
        handle = libc.open(b"gone", 0o102, 0o600)
        libc.write(handle, PAGE, MIB)
        libc.unlink(b"gone")
        TEXT.value = b"%d\\n" % i
        libc.write(1, TEXT, len(TEXT.value))
        libc.usleep(2000)
    return 0
PAGE = ctypes.create_string_buffer(MIB)
TEXT = ctypes.create_string_buffer(20)
entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(main)
# A process that shares all memory, but not the descriptors: CLONE_VM | CLONE_VFORK | SIGCHLD.
top = ctypes.c_void_p(ctypes.addressof(STACK) + MIB - 64)
libc.clone(entry, top, 0x100 | 0x4000 | 17, None)
`;

const DIRTY_PAGES = `
for i in range(40):
    handle = os.open("f%d" % i, os.O_CREAT | os.O_RDWR)
    os.ftruncate(handle, 10 * MIB)
    pages = mmap.mmap(handle, 10 * MIB)
    for page in range(0, 10 * MIB, 4096):
        pages[page] = 1
        if page % MIB == 0:
            report(i * 10 + page // MIB)
`;

const BURST = `
block = bytes(MIB)
for worker in range(8):
    if os.fork() == 0:
        for i in range(40):
            with open("w%d-%d" % (worker, i), "wb") as file:
                file.write(block)
        os._exit(0)
for i in range(4000):
    report(len(os.listdir(".")))
    time.sleep(0.0005)
`;

const COPIES = `
with open("one", "wb") as file:
    file.write(bytes(4 * MIB))
source = os.open("one", os.O_RDONLY)
for i in range(100):
    copy = os.open("copy%d" % i, os.O_CREAT | os.O_RDWR)
    os.copy_file_range(source, copy, 4 * MIB, 0, 0)
    report(4 * i)
`;
