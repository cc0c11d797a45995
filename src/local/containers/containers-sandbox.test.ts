import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLocalStorage } from "../../../tests/support/local-storage.ts";
import { bubblewrapSandbox } from "../sandbox/bubblewrap/bubblewrap-sandbox.ts";

const LIMITS = { timeoutMs: 10_000, maxOutputBytes: 10_000 };
const sandbox = bubblewrapSandbox();
const { usable, reason } = await sandbox.probe();
if (!usable) process.stdout.write(`Containers are not tried with bubblewrap: ${reason}\n`);

/** Counts the processes with `text` in their command line. */
function countProcesses(text: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false; // it has just ended
    }
  }).length;
}

/** Code that starts a background process, identifiable by the container's id. */
const startBackground = (id: string) =>
  `import subprocess; subprocess.Popen(["sh", "-c", "sleep 60; : ${id}"])`;

describe.skipIf(!usable)("A container in a real sandbox", () => {
  it("keeps Python's state, sees uploads at their paths, and lists files created by code", async () => {
    await using api = await startLocalStorage({ sandbox });
    const { id } = await api.containers.create({ name: "a" });
    const incoming = api.files.incoming.createPath();
    writeFileSync(incoming, "1,2");
    const file = await api.containers.upload(id, { path: incoming, bytes: 3, filename: "in.csv" });
    await api.containers.python(id, "total = 40", LIMITS);
    const code = `total += len(open("${file.path}").read().split(","))
import os
os.makedirs("/mnt/data/out")
open("/mnt/data/out/sum.txt", "w").write(str(total))
open("${file.path}", "a").write(",3")
print(total)`;
    const run = await api.containers.python(id, code, LIMITS);
    expect(run).toMatchObject({ stdout: "42\n", error: null });
    expect(run.files).toMatchObject([
      { id: file.id, path: file.path, bytes: 5, source: "assistant" },
      { path: "/mnt/data/out/sum.txt", bytes: 2, source: "assistant" },
    ]);
    const shell = await api.containers.shell(id, "cat /mnt/data/out/sum.txt", LIMITS);
    expect(shell).toMatchObject({ stdout: "42", exitCode: 0, files: [] });
  });

  it("ends its process when it expires", async () => {
    await using api = await startLocalStorage({ sandbox });
    const { id } = await api.containers.create({ name: "a" });
    const root = join(api.dataDir, "containers", id);
    await api.containers.shell(id, "mkdir closed && touch closed/x && chmod 000 closed", LIMITS);
    await api.containers.python(id, startBackground(id), LIMITS);
    expect(countProcesses(id)).toBeGreaterThan(0);
    await api.clock.advance(20 * 60_000);
    await expect.poll(() => [countProcesses(id), existsSync(root)]).toEqual([0, false]);
  });

  it("stops a run when it is deleted, and leaves no process after closing", async () => {
    await using api = await startLocalStorage({ sandbox });
    const [one, two] = [
      await api.containers.create({ name: "a" }),
      await api.containers.create({ name: "b" }),
    ];
    for (const { id } of [one, two]) await api.containers.python(id, startBackground(id), LIMITS);
    expect([countProcesses(one.id), countProcesses(two.id)]).not.toContain(0);
    const run = api.containers.python(one.id, "import time; time.sleep(60)", LIMITS);
    const outcome = expect(run).rejects.toMatchObject({ status: 404 });
    await api.containers.delete(one.id);
    await outcome;
    await api.containers[Symbol.asyncDispose]();
    expect([countProcesses(one.id), countProcesses(two.id)]).toEqual([0, 0]);
  });
});
