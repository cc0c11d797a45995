/** Ordinary work that the system call filter must not hinder. Each prints `ok` at its end. */
export interface WorkloadItem {
  readonly name: string;
  readonly run: "python" | "shell";
  readonly code: string;
  /** A module or program without which it is skipped. */
  readonly needs?: string;
}

export const WORKLOAD: readonly WorkloadItem[] = [
  {
    name: "files: temporary files, copies, trees, locks, links, modes and times",
    run: "python",
    code: `
import fcntl, os, pathlib, shutil, stat, tempfile
with tempfile.TemporaryFile() as f: f.write(b"x" * 100000); f.flush(); os.fsync(f.fileno())
with tempfile.NamedTemporaryFile() as f: f.write(b"x")
with tempfile.TemporaryDirectory() as d: pathlib.Path(d, "a").write_text("a")
os.makedirs("tree/inner"); pathlib.Path("tree/inner/f").write_bytes(os.urandom(200000))
shutil.copytree("tree", "copy"); shutil.copy2("tree/inner/f", "f"); shutil.move("f", "g")
os.link("g", "h"); os.symlink("g", "s"); os.chmod("h", 0o600); os.utime("h", (1, 2)); os.mkfifo("pipe")
os.posix_fallocate(os.open("g", os.O_RDWR), 0, 300000)
with open("lock", "w") as f: fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_UN)
assert os.listxattr("g") == [] and stat.S_ISFIFO(os.stat("pipe").st_mode) and os.statvfs("/tmp").f_blocks
os.truncate("g", 5); os.replace("g", "i"); shutil.rmtree("copy"); list(os.walk(".")); os.sync()
os.pread(os.open("h", os.O_RDONLY), 4, 0); print("ok")`,
  },
  {
    name: "processes: subprocess, pipes, signals, groups, priorities and limits",
    run: "python",
    code: `
import os, resource, signal, subprocess, sys, time
assert subprocess.run(["cat"], input=b"x" * 300000, capture_output=True).stdout == b"x" * 300000
assert subprocess.check_output("echo a | tr a b", shell=True) == b"b\\n"
p = subprocess.Popen(["sleep", "60"], start_new_session=True); os.killpg(p.pid, signal.SIGTERM); assert p.wait() == -15
try: subprocess.run(["sleep", "9"], timeout=0.1)
except subprocess.TimeoutExpired: pass
pid = os.fork()
if pid == 0: os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
pid = os.posix_spawn("/bin/true", ["true"], {}); os.waitid(os.P_PID, pid, os.WEXITED)
fd = os.pidfd_open(os.getpid()); os.close(fd)
got = []
signal.signal(signal.SIGALRM, lambda *a: got.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.02); signal.pause(); assert got
signal.signal(signal.SIGUSR1, lambda *a: got.append(2)); signal.raise_signal(signal.SIGUSR1); assert got == [1, 2]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.getrusage(resource.RUSAGE_SELF); os.nice(1)
os.sched_getaffinity(0); os.sched_yield(); os.times(); os.getloadavg(); os.cpu_count(); os.uname(); time.process_time(); print("ok")`,
  },
  {
    name: "threads: locks, queues, pools and timers",
    run: "python",
    code: `
import concurrent.futures, queue, threading, time
q = queue.Queue(); threading.Thread(target=lambda: q.put(1)).start(); assert q.get(timeout=5) == 1
with concurrent.futures.ThreadPoolExecutor(8) as pool: assert sum(pool.map(lambda x: x * x, range(100))) == 328350
e = threading.Event(); threading.Timer(0.02, e.set).start(); assert e.wait(5)
c = threading.Condition(); threading.Semaphore(2).acquire(timeout=0.01); time.sleep(0.01); print("ok")`,
  },
  {
    name: "asyncio: tasks, subprocesses, unix sockets, signals and threads",
    run: "python",
    code: `
import asyncio, os, signal, socket, sys
async def main():
    p = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE)
    assert (await p.communicate())[0] == b"hi\\n"
    p = await asyncio.create_subprocess_shell("exit 3"); assert await p.wait() == 3
    async def serve(r, w): w.write(await r.readline()); await w.drain(); w.close()
    server = await asyncio.start_unix_server(serve, "/tmp/asyncio.sock")
    r, w = await asyncio.open_unix_connection("/tmp/asyncio.sock"); w.write(b"x\\n"); assert await r.readline() == b"x\\n"
    w.close(); server.close()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: None); os.kill(os.getpid(), signal.SIGUSR1)
    assert await asyncio.to_thread(lambda: 5) == 5
    await asyncio.gather(*[asyncio.sleep(0.01) for _ in range(50)])
    try: await asyncio.wait_for(asyncio.sleep(5), 0.02)
    except TimeoutError: pass
    except asyncio.TimeoutError: pass
asyncio.run(main()); a, b = socket.socketpair(); a.sendall(b"1"); a.settimeout(1); assert b.recv(1) == b"1"
assert socket.gethostname() == "container"
try: socket.getaddrinfo("example.org", 80); raise SystemExit("resolved")
except socket.gaierror: pass
print("ok")`,
  },
  {
    name: "multiprocessing: fork, forkserver, spawn, managers, shared memory",
    run: "shell",
    code: `cat > mp.py <<'END'
import concurrent.futures, multiprocessing as mp
from multiprocessing import shared_memory
def square(x): return x * x
def put(q): q.put(7)
if __name__ == "__main__":
    for method in ("fork", "forkserver", "spawn"):
        context = mp.get_context(method)
        with context.Pool(2) as pool: assert pool.map(square, range(5)) == [0, 1, 4, 9, 16]
        q = context.Queue(); p = context.Process(target=put, args=(q,)); p.start(); assert q.get(timeout=20) == 7; p.join()
    with mp.Manager() as m:
        d = m.dict(); d["a"] = 1; assert d["a"] == 1
    s = shared_memory.SharedMemory(create=True, size=4096); s.buf[0] = 1; s.close(); s.unlink()
    v = mp.Value("i", 3); lock = mp.Lock()
    with lock: v.value += 1
    with concurrent.futures.ProcessPoolExecutor(2) as pool: assert list(pool.map(square, [3])) == [9]
    print("ok")
END
python3 mp.py`,
  },
  {
    name: "libraries of Python: sqlite, archives, csv, json, ctypes, mmap, ssl, locale",
    run: "python",
    code: `
import bz2, ctypes, csv, decimal, gzip, hashlib, io, json, locale, logging, lzma, mmap, os, pathlib, pickle, platform
import random, secrets, select, shelve, socket, sqlite3, ssl, struct, tarfile, uuid, xml.etree.ElementTree, zipfile, zlib, zoneinfo
for mode in ("DELETE", "WAL", "MEMORY"):
    db = sqlite3.connect("db-" + mode); db.execute("PRAGMA journal_mode=" + mode)
    db.execute("create table t (a)"); db.executemany("insert into t values (?)", [(i,) for i in range(1000)]); db.commit()
    assert db.execute("select sum(a) from t").fetchone() == (499500,); db.execute("vacuum"); db.close()
pathlib.Path("d").mkdir(); pathlib.Path("d/x").write_bytes(b"x" * 100000)
for mode in ("w:gz", "w:bz2", "w:xz"):
    with tarfile.open("t", mode) as t: t.add("d")
    with tarfile.open("t") as t: t.extractall("out-" + mode[2:])
with zipfile.ZipFile("z", "w", zipfile.ZIP_DEFLATED) as z: z.write("d/x")
with zipfile.ZipFile("z") as z: z.extractall("unzipped")
with open("d/x", "r+b") as f, mmap.mmap(f.fileno(), 0) as m: m[0] = 65; m.flush(); assert m[:2] == b"Ax"
with mmap.mmap(-1, 1 << 20) as m: m.write(b"x")
assert ctypes.CDLL(None).getpid() == os.getpid(); called = []
ctypes.CFUNCTYPE(None)(lambda: called.append(1))(); assert called
hashlib.scrypt(b"a", salt=b"b", n=2, r=1, p=1); secrets.token_hex(); ssl.create_default_context(); uuid.uuid1(); platform.platform()
with shelve.open("shelf") as s: s["a"] = 1
e = select.epoll(); r, w = os.pipe(); e.register(r, select.EPOLLIN); os.write(w, b"1"); assert e.poll(1); os.eventfd(0)
logging.basicConfig(); zoneinfo.available_timezones(); locale.getlocale(); print("ok")`,
  },
  {
    name: "the shell: pipes, job control, traps, here documents, process substitution, arithmetic",
    run: "shell",
    code: `set -e; set -o pipefail
trap 'true' USR1 EXIT; kill -USR1 $$
sleep 0.05 & wait $!; (set -m; sleep 0.02 & jobs >/dev/null; wait)
diff <(seq 5) <(seq 5); read -r a b <<<"1 2"; test "$((a + b))" = 3; coproc cat; echo x >&"\${COPROC[1]}"; read -r y <&"\${COPROC[0]}"; test $y = x
for f in $(seq 20); do : > "f$f"; done; ls f* | wc -l | grep -q 20; ulimit -n 256; umask 022; type -a ls >/dev/null
mapfile -t lines < <(seq 3); test \${#lines[@]} = 3; read -t 0.05 z < /dev/zero || true; time true; exec 9>log; flock 9 true; printf '%s\\n' ok`,
  },
  {
    name: "coreutils, findutils, grep, sed and awk",
    run: "shell",
    code: `set -e
seq 200000 > n; sort -rn n | head -1 | grep -qx 200000; sort -S 1M --parallel=2 n > m; shuf n | wc -l | grep -q 200000
cp n c; cp -a --sparse=always n s; cp -r . /tmp/all; mv c d; ln d l; ln -s d y; install -m 600 d i; cat n n > nn; tac n | tail -n 1 >/dev/null
dd if=/dev/zero of=z bs=1M count=3 2>/dev/null; truncate -s 10M sparse; split -n 4 n part; cut -c1-2 n | uniq -c | sort | tail -3 >/dev/null
md5sum n | md5sum -c --quiet; sha256sum n >/dev/null; base64 n | base64 -d | cmp - n; od -c n | head -2 >/dev/null; touch -d yesterday t; stat t >/dev/null
find . -type f -name 'n*' -print0 | xargs -0 -P 2 -n 1 wc -c >/dev/null; find . -newer t -exec true {} +; find . -name z -delete
grep -c 7 n >/dev/null; grep -rn '^42$' . >/dev/null; sed -i 's/^1$/one/' n; head -1 n | grep -qx one; awk '{ s += $1 } END { print s }' m >/dev/null
df . >/dev/null; du -sh . >/dev/null; date >/dev/null; env -i true; nice true; nohup true >/dev/null 2>&1; timeout 5 true; timeout 0.1 sleep 5 || true; timeout -k 1 0.1 sleep 5 || true
chmod -R go-w .; rm -rf part*; tee a b < m >/dev/null; paste a b | comm -12 a b | head -1 >/dev/null || true; nproc >/dev/null; uname -a >/dev/null; id >/dev/null; whoami >/dev/null
mktemp -d >/dev/null; realpath . >/dev/null; expr 1 + 1 >/dev/null; printf ok; (tail -f m & p=$!; sleep 0.1; kill $p) >/dev/null 2>&1; stdbuf -oL echo; sync; echo`,
  },
  {
    name: "tar, gzip, xz and diff",
    run: "shell",
    code: `set -e; seq 50000 > a; mkdir d; cp a d; tar czf t.gz d; tar cJf t.xz d; tar cf t a d; mkdir x; tar xf t -C x; tar xzf t.gz -C x; tar xJf t.xz -C x
gzip -k a; gunzip -c a.gz | cmp - a; xz -T2 -k a; diff -r d x/d; tar --sparse -cf s d; echo ok`,
  },
  {
    name: "git: init, commit, branch, log, gc, clone",
    run: "shell",
    needs: "git",
    code: `set -e; git init -q r; cd r; git config user.email a@b; git config user.name a; seq 1000 > f; git add .; git commit -qm one; git switch -qc b
echo x >> f; git commit -qam two; git log --oneline | wc -l | grep -q 2; git diff HEAD~1 --stat >/dev/null; git gc -q; git clone -q . ../c; cd ../c; git status -s; git stash list; git grep -q 42
git worktree add -q ../w; git fsck 2>/dev/null; git archive HEAD | tar t >/dev/null; echo ok`,
  },
  {
    name: "gcc: compile and run",
    run: "shell",
    needs: "gcc",
    code: `set -e; printf '#include <stdio.h>\\n#include <pthread.h>\\nvoid*f(void*a){return a;}\\nint main(){pthread_t t;pthread_create(&t,0,f,0);pthread_join(t,0);puts("ok");}' > a.c; gcc -O2 -pthread a.c -o a; ./a`,
  },
  {
    name: "perl: pipes and sorting",
    run: "shell",
    code: `set -e; perl -e 'open(my $f, "-|", "echo x"); die unless <$f> eq "x\\n"; my @s = sort { $b <=> $a } 1..1000;' 2>/dev/null || ! command -v perl; echo ok`,
  },
  {
    name: "node: files, workers, child processes and timers",
    run: "shell",
    needs: "node",
    code: `cat > a.mjs <<'END'
import { Worker } from "node:worker_threads"; import { execFileSync } from "node:child_process"; import fs from "node:fs"; import net from "node:net";
fs.writeFileSync("x", "x".repeat(100000)); await fs.promises.copyFile("x", "y"); await fs.promises.cp("x", "z", { recursive: true });
if (String(execFileSync("echo", ["a"])) !== "a\\n") throw 1;
await new Promise((done) => new Worker("require('worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", done));
const s = net.createServer((c) => c.end("hi")).listen("/tmp/node.sock"); await new Promise((d) => net.connect("/tmp/node.sock").on("data", d)); s.close();
console.log("ok");
END
node --max-old-space-size=128 a.mjs`,
  },
  {
    name: "numpy: arrays, linear algebra, files and threads",
    run: "python",
    needs: "numpy",
    code: `
import numpy as np
a = np.random.default_rng(1).random((300, 300)); assert np.allclose(a @ np.linalg.inv(a), np.eye(300), atol=1e-6)
np.save("a.npy", a); assert np.load("a.npy", mmap_mode="r")[0, 0] == a[0, 0]; np.fft.fft(a); np.linalg.svd(a); print("ok")`,
  },
  {
    name: "pandas: read, group, write",
    run: "python",
    needs: "pandas",
    code: `
import pandas as pd
d = pd.DataFrame({"a": range(1000), "b": ["x", "y"] * 500}); d.to_csv("d.csv"); e = pd.read_csv("d.csv")
assert e.groupby("b").a.sum().to_dict() == {"x": 249500, "y": 250000}; d.to_json("d.json"); d.to_pickle("d.pkl"); print("ok")`,
  },
  {
    name: "matplotlib: a figure as PNG",
    run: "python",
    needs: "matplotlib",
    code: `
import matplotlib.pyplot as plt
plt.plot([1, 2, 3]); plt.savefig("f.png"); plt.close("all"); assert open("f.png", "rb").read(4) == b"\\x89PNG"; print("ok")`,
  },
];
