/** A program that tries to use more of one resource than its container may. */
export interface HostileProgram {
  readonly resource: "disk" | "memory" | "processes" | "time" | "output";
  readonly name: string;
  /** Whether it works in WebAssembly, which has neither processes nor signals, and keeps files in memory. */
  readonly wasm?: true;
  /** Python code. Failures are expected. */
  readonly code: string;
}

const FORKS = `
import os, time
def spread(count, work):
    for number in range(count):
        try:
            if os.fork() == 0:
                try: work(number)
                finally: os._exit(0)
        except OSError: break
`;

/** Programs that use more than they may, several for each resource. */
export const HOSTILE_PROGRAMS: readonly HostileProgram[] = [
  {
    resource: "disk",
    name: "fallocate in many files",
    code: `import os
for n in range(40):
    f = os.open("f%d" % n, os.O_CREAT | os.O_RDWR)
    try: os.posix_fallocate(f, 0, 16 << 20)
    except OSError: pass`,
  },
  {
    resource: "disk",
    name: "eight writers",
    code: `${FORKS}
def write(n):
    with open("w%d" % n, "wb", buffering=0) as f:
        while True: f.write(bytes(1 << 20))
spread(8, write); time.sleep(1.5)`,
  },
  {
    resource: "disk",
    name: "deleted files held by mappings",
    code: `import mmap, os
kept = []
for n in range(200):
    f = os.open("m%d" % n, os.O_CREAT | os.O_RDWR)
    os.ftruncate(f, 4 << 20)
    m = mmap.mmap(f, 4 << 20)
    os.unlink("m%d" % n); os.close(f); kept.append(m)
    for at in range(0, 4 << 20, 4096): m[at] = 1`,
  },
  {
    resource: "disk",
    name: "deleted files held by descriptors",
    code: `import os
kept = []
for n in range(500):
    f = os.open("d%d" % n, os.O_CREAT | os.O_RDWR); os.unlink("d%d" % n); kept.append(f)
    os.write(f, bytes(1 << 20))`,
  },
  {
    resource: "memory",
    name: "twenty processes with a heap each",
    code: `${FORKS}
def take(n):
    kept = [bytearray(b"x" * (4 << 20)) for _ in range(20)]; time.sleep(1)
spread(20, take); time.sleep(1.2)`,
  },
  {
    resource: "memory",
    name: "a burst of huge pages",
    code: `${FORKS}
import mmap
def take(n):
    kept = []
    for _ in range(12):
        m = mmap.mmap(-1, 8 << 20)
        try: m.madvise(mmap.MADV_HUGEPAGE)
        except (OSError, AttributeError): pass
        for at in range(0, 8 << 20, 4096): m[at] = 1
        kept.append(m)
    time.sleep(1)
spread(12, take); time.sleep(1.2)`,
  },
  {
    resource: "memory",
    name: "full socket buffers",
    code: `${FORKS}
import socket
def take(n):
    kept = []
    for _ in range(400):
        try:
            a, b = socket.socketpair(); a.setblocking(False); kept += [a, b]
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
            while True: a.send(bytes(1 << 16))
        except OSError: pass
    time.sleep(1)
spread(10, take); time.sleep(1.2)`,
  },
  {
    resource: "memory",
    name: "files in /tmp and /dev/shm",
    wasm: true,
    code: `for place in ("/tmp", "/dev/shm"):
    for n in range(100):
        try:
            with open("%s/t%d" % (place, n), "wb") as f: f.write(bytes(4 << 20))
        except OSError: break
kept = []
while True: kept.append(bytearray(b"x" * (1 << 20)))`,
  },
  {
    resource: "processes",
    name: "a fork bomb",
    code: `import os, time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    try: os.fork()
    except OSError: time.sleep(0.01)`,
  },
  {
    resource: "processes",
    name: "threads",
    code: `import threading, time
for n in range(2000):
    try: threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
    except RuntimeError: break
time.sleep(1)`,
  },
  {
    resource: "time",
    name: "an ignored interrupt",
    wasm: true,
    code: `import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try: time.sleep(60)
    except BaseException: pass`,
  },
  {
    resource: "time",
    name: "a stopped interpreter",
    code: `import os, signal
while True: os.kill(os.getpid(), signal.SIGSTOP)`,
  },
  {
    resource: "output",
    name: "both streams at once",
    wasm: true,
    code: `import os, time
end = time.monotonic() + 1
while time.monotonic() < end: os.write(1, b"o" * 65536); os.write(2, b"e" * 65536)`,
  },
];
