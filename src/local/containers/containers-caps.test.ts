import { describe, expect, it, vi } from "vitest";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import { startLocalStorage } from "../../../tests/support/local-storage.ts";
import type { Sandbox, SandboxProcess } from "../sandbox/sandbox.ts";

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 10_000 };

/** A sandbox whose Python prints the code, and waits while `gate` is closed. */
function createSandbox(gate: Promise<void> = Promise.resolve()) {
  const seen = { open: 0, most: 0, ended: 0 };
  const open = async (): Promise<SandboxProcess> => {
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
    return {
      async python(code) {
        if (code === "slow") await gate;
        const stdout = `${code}\n`;
        return {
          ...{ stdout, stderr: "", error: null, images: [] },
          ...{ timedOut: false, truncated: false, died: code === "die" },
        };
      },
      shell: async () => ({
        ...{ stdout: "", stderr: "", exitCode: 0 },
        ...{ timedOut: false, truncated: false },
      }),
      async [Symbol.asyncDispose]() {
        seen.open -= 1;
        seen.ended += 1;
      },
    };
  };
  const sandbox: Sandbox = { ...hostSandbox(), open };
  return { sandbox, seen };
}

const NOTICE = "The interpreter was restarted, because too many were idle.";

describe("The limit of open interpreters", () => {
  it("ends the least recently used idle one, and the next run in its container reports it", async () => {
    const { sandbox, seen } = createSandbox();
    await using api = await startLocalStorage({ sandbox, limits: { maxInterpreters: 2 } });
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) ids.push((await api.containers.create({ name })).id);
    const [a = "", b = "", c = ""] = ids;
    for (const id of ids) await api.containers.python(id, "1", LIMITS);
    expect(seen).toEqual({ open: 2, most: 2, ended: 1 });
    const run = await api.containers.python(a, "2", LIMITS);
    expect(run.stderr).toContain(NOTICE);
    expect(run.output).toMatch(/^The interpreter was restarted.*\n2\n$/s);
    expect((await api.containers.python(a, "3", LIMITS)).stderr).toBe("");
    expect((await api.containers.python(c, "3", LIMITS)).stderr).toBe("");
    expect((await api.containers.python(b, "3", LIMITS)).stderr).toContain(NOTICE);
  });

  it("reports no loss if the container had no variables", async () => {
    const { sandbox } = createSandbox();
    await using api = await startLocalStorage({ sandbox, limits: { maxInterpreters: 1 } });
    const { id: a } = await api.containers.create({ name: "a" });
    const { id: b } = await api.containers.create({ name: "b" });
    await api.containers.shell(a, "true", LIMITS);
    await api.containers.python(b, "die", LIMITS);
    expect((await api.containers.python(a, "1", LIMITS)).stderr).toBe("");
    expect((await api.containers.python(b, "1", LIMITS)).stderr).toBe("");
  });

  it("never ends a running one: other runs wait, and can be canceled", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { sandbox, seen } = createSandbox(promise);
    await using api = await startLocalStorage({ sandbox, limits: { maxInterpreters: 1 } });
    const { id: a } = await api.containers.create({ name: "a" });
    const { id: b } = await api.containers.create({ name: "b" });
    const { id: c } = await api.containers.create({ name: "c" });
    const slow = api.containers.python(a, "slow", LIMITS);
    await expect.poll(() => seen.open).toBe(1);
    const leaving = new AbortController();
    const canceled = api.containers.python(b, "1", { ...LIMITS, signal: leaving.signal });
    const waiting = api.containers.python(c, "2", LIMITS);
    leaving.abort(new Error("Enough."));
    await expect(canceled).rejects.toThrow("Enough.");
    expect(seen).toEqual({ open: 1, most: 1, ended: 0 });
    resolve();
    expect((await slow).stdout).toBe("slow\n");
    expect((await waiting).stdout).toBe("2\n");
    expect(seen.most).toBe(1);
    await api.containers.delete(c);
    expect((await api.containers.python(b, "3", LIMITS)).stdout).toBe("3\n");
  });

  it("frees the slot of a process that cannot be opened or ended", async () => {
    const { sandbox } = createSandbox();
    let opens = 0;
    let isStuck = true;
    const failing: Sandbox = {
      ...sandbox,
      async open(options) {
        if (opens++ === 0) throw new Error("No room.");
        const process = await sandbox.open(options);
        return {
          ...process,
          async [Symbol.asyncDispose]() {
            if (isStuck) throw new Error("Stuck.");
          },
        };
      },
    };
    await using api = await startLocalStorage({ sandbox: failing, limits: { maxInterpreters: 1 } });
    const { id: a } = await api.containers.create({ name: "a" });
    const { id: b } = await api.containers.create({ name: "b" });
    await expect(api.containers.python(a, "1", LIMITS)).rejects.toThrow("No room.");
    expect((await api.containers.python(b, "1", LIMITS)).stdout).toBe("1\n");
    expect((await api.containers.python(a, "2", LIMITS)).stdout).toBe("2\n");
    await api.containers.delete(a);
    expect((await api.containers.python(b, "3", LIMITS)).stdout).toBe("3\n");
    isStuck = false;
  });
});

describe("The limit of containers", () => {
  it("refuses one more until one is deleted", async () => {
    await using api = await startLocalStorage({ limits: { maxContainers: 2 } });
    const { id } = await api.containers.create({ name: "a" });
    await api.containers.create({ name: "b" });
    await expect(api.containers.create({ name: "c" })).rejects.toMatchObject({
      status: 429,
      code: "too_many_containers",
      message: expect.stringContaining("raise limits.maxContainers"),
    });
    await api.containers.delete(id);
    await api.containers.create({ name: "c" });
  });
});

describe("A memory limit that the machine cannot give", () => {
  it("is reduced, reported in a header, and logged once", async () => {
    const asked: number[] = [];
    const host = hostSandbox();
    const sandbox: Sandbox = {
      ...host,
      open(options) {
        asked.push(options.memoryBytes);
        return host.open(options);
      },
    };
    const constrained = vi.spyOn(process, "constrainedMemory").mockReturnValue(4 * 2 ** 30);
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await using api = await startLocalStorage({ sandbox });
    try {
      for (const name of ["a", "b"]) {
        const { id } = await api.containers.create({ name, memoryLimit: "64g" });
        await api.containers.shell(id, "true", LIMITS);
      }
      const body = JSON.stringify({ name: "c", memory_limit: "64g" });
      const created = await fetch(`${api.url}/containers`, { method: "POST", body });
      expect(created.headers.get("x-wink-memory-limit")).toBe("3072m");
      const { id, memory_limit: limit } = (await created.json()) as Record<string, string>;
      expect(limit).toBe("64g");
      const read = await fetch(`${api.url}/containers/${id}`);
      expect(read.headers.get("x-wink-memory-limit")).toBe("3072m");
      const small = await fetch(`${api.url}/containers`, { method: "POST", body: '{"name":"d"}' });
      expect(small.headers.has("x-wink-memory-limit")).toBe(false);
      expect(asked).toEqual([3 * 2 ** 30, 3 * 2 ** 30]);
      expect(warned.mock.calls).toEqual([
        [expect.stringContaining("the memory limit 64g get 3072 MiB"), "WinkWarning"],
      ]);
    } finally {
      constrained.mockRestore();
      warned.mockRestore();
    }
  });
});
