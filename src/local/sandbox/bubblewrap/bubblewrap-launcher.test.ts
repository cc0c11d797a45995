import { spawn } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  isBubblewrapUsable,
  listProcesses,
} from "../../../../tests/support/attacks/bubblewrap-target.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import type { SandboxProcess } from "../sandbox.ts";
import { bubblewrapSandbox } from "./bubblewrap-sandbox.ts";

const LIMITS = { timeoutMs: 1_000, maxOutputBytes: 1_000 };
const HOSTILE = `#!/usr/bin/python3
import json, os, struct, sys, time
def send(kind, payload, size=None, channel=0):
    os.write(1, kind + struct.pack(">II", channel, len(payload) if size is None else size) + payload)
def listen():
    os.read(0, 65536)
`;

/** Starts a program instead of bwrap that sends `lines`, as a compromised supervisor could. */
async function startImposter(lines: string): Promise<SandboxProcess> {
  const folder = temporaryTree({ bwrap: `${HOSTILE}${lines}\n`, "root/a": "" });
  chmodSync(`${folder}/bwrap`, 0o755);
  const sandbox = bubblewrapSandbox({ bubblewrap: `${folder}/bwrap`, graceMs: 100 });
  return await sandbox.open({ root: `${folder}/root`, memoryBytes: 1024 ** 3 });
}

describe("A process that impersonates the supervisor", () => {
  test("is killed for a frame that is too large", async () => {
    await using container = await startImposter(
      "send(b'r', b'')\nlisten()\nsend(b'd', b'', 0xffffffff)\ntime.sleep(60)",
    );
    const run = await container.python("1", { ...LIMITS, timeoutMs: 30_000 });
    expect(run).toMatchObject({
      died: true,
      timedOut: false,
      error: "The interpreter ended unexpectedly. Its variables are lost.",
    });
  });

  test("is killed for an invalid answer", async () => {
    await using container = await startImposter(
      "send(b'r', b'')\nlisten()\nsend(b'd', b'[]')\ntime.sleep(60)",
    );
    expect(await container.python("1", LIMITS)).toMatchObject({ died: true, images: [] });
  });

  test("is ignored beyond the output limits", async () => {
    await using container = await startImposter(
      "send(b'r', b'')\nlisten()\nfor i in range(1000): send(b'o', b'x' * 60000)\n" +
        "send(b'd', b'{\"error\": null, \"images\": []}')\ntime.sleep(60)",
    );
    const run = await container.python("1", { ...LIMITS, timeoutMs: 30_000 });
    expect(run).toMatchObject({ truncated: true, died: false });
    expect(run.stdout).toHaveLength(1_000);
  });

  test("is killed when it sends nothing, even if it reports an invalid process", async () => {
    await using container = await startImposter(
      "os.write(3, b'{ \"child-pid\": 4194304999 }')\nsend(b'r', b'')\ntime.sleep(60)",
    );
    const run = await container.python("1", { ...LIMITS, timeoutMs: 100 });
    expect(run).toMatchObject({ died: true, timedOut: true });
  });

  test("ends a command whose reason cannot be parsed", async () => {
    await using container = await startImposter(
      "send(b'r', b'')\nlisten()\nsend(b'x', b'{}', channel=1)\ntime.sleep(0.1)",
    );
    expect(await container.shell("true", LIMITS)).toMatchObject({ exitCode: 137, timedOut: false });
  });
});

describe("A sandbox that ends between runs", () => {
  const END = `listen()\nsend(b'v', json.dumps({"violation": LIMIT, "idle": True}).encode())`;

  test("is started again for the next run, which knows whether the disk is full", async () => {
    await using container = await startImposter(
      [
        "LIMIT = 'disk'\nsend(b'r', b'')",
        "if json.loads(sys.argv[-1])['full']:",
        "  listen()\n  send(b'o', b'full')\n  send(b'd', b'{\"error\": null, \"images\": []}')\n  time.sleep(60)",
        END,
      ].join("\n"),
    );
    const run = await container.python("1", { ...LIMITS, timeoutMs: 30_000 });
    expect(run).toMatchObject({ stdout: "full", died: false });
  });

  test("is not started forever", async () => {
    await using container = await startImposter(`LIMIT = 'idle'\nsend(b'r', b'')\n${END}`);
    const run = await container.python("1", { ...LIMITS, timeoutMs: 30_000 });
    expect(run).toMatchObject({
      died: true,
      error: "Stopped: a process ran between two runs. Its variables are lost.",
    });
  });
});

describe.skipIf(!(await isBubblewrapUsable()))("A server that is killed", () => {
  test("ends all processes in its sandboxes", async () => {
    const root = temporaryTree();
    const module = JSON.stringify(`${import.meta.dirname}/bubblewrap-sandbox.ts`);
    const program = `
      import { bubblewrapSandbox } from ${module};
      const container = await bubblewrapSandbox().open({ root: ${JSON.stringify(root)}, memoryBytes: 2 ** 29 });
      const limits = { timeoutMs: 60_000, maxOutputBytes: 10 };
      void container.shell("touch shell; sleep 60", limits);
      await container.python("open('python', 'w').close()\\nimport time; time.sleep(60)", limits);
    `;
    const server = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    await expect.poll(() => existsSync(`${root}/python`) && existsSync(`${root}/shell`)).toBe(true);
    expect(listProcesses(root).length).toBeGreaterThan(4);
    server.kill("SIGKILL");
    await expect.poll(() => listProcesses(root)).toEqual([]);
  });
});
