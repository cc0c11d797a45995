import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  isBubblewrapUsable,
  openTarget,
  type Target,
} from "../support/attacks/bubblewrap-target.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const runs = await isBubblewrapUsable();

/** The attack primitives in each language. `read` prints a file's text or fails. */
const LANGUAGES = [
  {
    language: "Python",
    read: async (target: Target, path: string) =>
      (await target.python(`print(open(${JSON.stringify(path)}).read())`)).stdout,
    list: async (target: Target, path: string) =>
      (await target.python(`import os\nprint(os.listdir(${JSON.stringify(path)}))`)).stdout,
    run: async (target: Target, command: string) =>
      (
        await target.python(
          `import subprocess\nprint(subprocess.run(${JSON.stringify(command)}, shell=True, capture_output=True, text=True).stdout)`,
        )
      ).stdout,
  },
  {
    language: "a shell",
    read: async (target: Target, path: string) => (await target.shell(`cat '${path}'`)).stdout,
    list: async (target: Target, path: string) => (await target.shell(`ls -a '${path}'`)).stdout,
    run: async (target: Target, command: string) => (await target.shell(command)).stdout,
  },
];

describe.skipIf(!runs).each(LANGUAGES)("Bubblewrap, attacked from $language,", (attack) => {
  test("blocks reading the host's files", async () => {
    const target = await openTarget();
    const here = import.meta.dirname;
    for (const path of ["/etc/shadow", `${here}/bubblewrap.long.test.ts`, "/proc/1/environ"]) {
      expect(await attack.read(target, path), path).toBe("");
    }
    for (const path of ["/root", "/home", "/var", "/sys", "/opt", "/usr/src", here]) {
      expect((await attack.list(target, path)).replace(/^(\.\n\.\.\n|\[\]\n)$/, ""), path).toBe("");
    }
    expect(await attack.read(target, "/etc/passwd")).not.toContain("daemon");
  });

  test("blocks reading another container's folder, by path or through a link", async () => {
    const parent = temporaryTree({ "other/secret.txt": "secret" });
    mkdirSync(`${parent}/mine`);
    const target = await openTarget({ root: `${parent}/mine` });
    expect(await attack.read(target, `${parent}/other/secret.txt`)).toBe("");
    expect(await attack.read(target, "/mnt/data/../other/secret.txt")).toBe("");
    await target.shell(
      `ln -s ${parent}/other/secret.txt link; ln -s /proc/1/root/etc/shadow link2`,
    );
    expect(await attack.read(target, "/mnt/data/link")).toBe("");
    expect(await attack.read(target, "/mnt/data/link2")).toBe("");
  });

  test("resolves a link to /etc/passwd inside the sandbox", async () => {
    const target = await openTarget();
    await target.shell("ln -s /etc/passwd link");
    const seen = await attack.read(target, "link");
    expect(seen).toContain("sandbox:x:");
    expect(seen).not.toBe(readFileSync("/etc/passwd", "utf8"));
  });

  test("hides the host's environment", async () => {
    vi.stubEnv("HOST_SECRET", "sk-host-secret");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const target = await openTarget();
    expect(await attack.run(target, "env; cat /proc/*/environ")).not.toContain("sk-host-secret");
    expect((await attack.run(target, "env | cut -d= -f1 | sort")).split("\n")).not.toContain(
      "NODE",
    );
  });

  test("blocks the network: the host's loopback, names, other machines", async () => {
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const target = await openTarget();
    const python = `python3 -c "import socket; print(socket.create_connection(('127.0.0.1', ${port}), 1))"`;
    expect((await attack.run(target, python)).trim()).toBe("");
    const name = `python3 -c "import socket; print(socket.getaddrinfo('example.com', 80))"`;
    expect((await attack.run(target, name)).trim()).toBe("");
    const outside = `python3 -c "import socket; print(socket.create_connection(('1.1.1.1', 53), 1))"`;
    expect((await attack.run(target, outside)).trim()).toBe("");
    expect(connections).toBe(0);
  });

  test("blocks seeing or signaling the host's processes", async () => {
    const target = await openTarget();
    const seen = await attack.run(target, "ls /proc | grep -c '^[0-9]'");
    expect(Number(seen)).toBeLessThan(12);
    await attack.run(
      target,
      `kill -9 ${process.pid}; kill -9 ${process.ppid}; kill -9 1; kill -STOP 1`,
    );
    expect((await attack.run(target, "echo alive")).trim()).toBe("alive");
  });

  test("blocks creating devices, mounting, and becoming root", async () => {
    const target = await openTarget();
    const command =
      "mknod disk b 8 0 && echo device; mount -t tmpfs none /mnt && echo mounted; unshare -Ur id && echo unshared; " +
      "chroot / true && echo rooted; su -c true root </dev/null && echo su; cp /usr/bin/id own && chmod 4755 own && ./own -u";
    const seen = (await attack.run(target, command)).trim();
    expect(seen).toMatch(/^\d+$/);
    expect(seen).not.toBe("0");
  });

  test("blocks writing outside /mnt/data, /tmp and /dev/shm", async () => {
    const target = await openTarget();
    const command =
      "for d in / /etc /usr /usr/bin /usr/local /usr/src /dev /mnt /proc /proc/sys/kernel /var; do " +
      "touch $d/x 2>/dev/null && echo $d; done; for d in /tmp /dev/shm /mnt/data; do touch $d/x || echo not $d; done";
    expect((await attack.run(target, command)).trim()).toBe("");
  });

  test("hides the host's open descriptors", async () => {
    const target = await openTarget();
    const seen = await attack.run(target, "ls -l /proc/self/fd /proc/$PPID/fd");
    expect(seen).not.toMatch(/socket:/);
  });
});

describe.skipIf(!runs)("Bubblewrap blocks system calls", () => {
  test("that trace, create namespaces, hide memory or bypass the network namespace", async () => {
    const target = await openTarget();
    const run = await target.python(CALLS);
    if (process.arch !== "x64" && process.arch !== "arm64") return;
    expect(run.stdout).toBe(
      "ptrace -1 1\nunshare -1 1\nmount -1 1\nmemfd_create -1 1\nvsock 97\nclone -1 1\n",
    );
  });
});

const CALLS = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    print(name, getattr(libc, name)(*arguments), ctypes.get_errno())
call("ptrace", 16, os.getppid(), 0, 0)
call("unshare", 0x10000000)
call("mount", b"none", b"/mnt", b"tmpfs", 0, None)
call("memfd_create", b"x", 0)
try:
    socket.socket(40, socket.SOCK_STREAM)
except OSError as problem:
    print("vsock", problem.errno)
import platform
number = 56 if platform.machine() == "x86_64" else 220
print("clone", libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0), ctypes.get_errno())
`;

describe.skipIf(!runs)("Bubblewrap does not block", () => {
  test("reading the system's programs and libraries, which belong to the host", async () => {
    const target = await openTarget();
    expect((await target.shell("test -r /usr/bin/env && echo readable")).stdout).toBe("readable\n");
  });

  test("reading the host's kernel version, processors and memory from /proc", async () => {
    const target = await openTarget();
    const run = await target.shell("uname -r; cat /proc/meminfo");
    expect(run.stdout).toContain(readFileSync("/proc/sys/kernel/osrelease", "utf8").trim());
    expect(run.stdout).toContain("MemTotal");
  });

  test("creating links in /mnt/data that point anywhere: the host must not follow them", async () => {
    const target = await openTarget();
    const outside = `${temporaryTree({ "secret.txt": "secret" })}/secret.txt`;
    await target.shell(`ln -s ${outside} link`);
    expect(readFileSync(`${target.root}/link`, "utf8")).toBe("secret");
  });

  test("removing the host's own files in /mnt/data", async () => {
    const target = await openTarget();
    writeFileSync(`${target.root}/upload.txt`, "1");
    await target.python("import shutil, os\nfor n in os.listdir('.'): os.unlink(n)");
    expect((await target.shell("ls -A")).stdout).toBe("");
  });
});
