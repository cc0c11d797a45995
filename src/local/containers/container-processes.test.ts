import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import { startLocalStorage } from "../../../tests/support/local-storage.ts";
import type { Sandbox, SandboxProcess } from "../sandbox/sandbox.ts";

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 10_000 };

describe("A failing sandbox", () => {
  it("is opened again by the next run after a failed open", async () => {
    const host = hostSandbox();
    let tries = 0;
    const sandbox: Sandbox = {
      ...host,
      open: (options) =>
        tries++ === 0 ? Promise.reject(new Error("No room.")) : host.open(options),
    };
    await using api = await startLocalStorage({ sandbox });
    const { id } = await api.containers.create({ name: "a" });
    await expect(api.containers.shell(id, "echo on", LIMITS)).rejects.toThrow("No room.");
    expect((await api.containers.shell(id, "echo on", LIMITS)).stdout).toBe("on\n");
  });

  it("requires no cleanup after a failed open", async () => {
    const opening = Promise.withResolvers<SandboxProcess>();
    let opens = 0;
    const open = () => {
      opens++;
      return opening.promise;
    };
    const sandbox = { ...hostSandbox(), open };
    await using api = await startLocalStorage({ sandbox });
    const { id } = await api.containers.create({ name: "a" });
    const run = api.containers.shell(id, "true", LIMITS);
    const outcome = expect(run).rejects.toThrow("not found");
    await expect.poll(() => opens).toBe(1);
    const deleted = api.containers.delete(id);
    opening.reject(new Error("No room."));
    await Promise.all([deleted, outcome]);
  });

  it("does not keep the container if its process fails to end", async () => {
    const host = hostSandbox();
    const sandbox: Sandbox = {
      ...host,
      open: async (options) => ({
        ...(await host.open(options)),
        [Symbol.asyncDispose]: () => Promise.reject(new Error("Stuck.")),
      }),
    };
    await using api = await startLocalStorage({ sandbox });
    const { id } = await api.containers.create({ name: "a" });
    await api.containers.shell(id, "true", LIMITS);
    await api.containers.delete(id);
    expect(() => api.containers.check(id)).toThrow("not found");
    // Its folder remains for processes that may still use it, and is removed at the next start.
    expect(existsSync(join(api.dataDir, "containers", id))).toBe(true);
  });
});

describe("A sandbox that is still opening", () => {
  it("is canceled when its container is deleted or all containers close", async () => {
    const calledOff: unknown[] = [];
    const sandbox: Sandbox = {
      ...hostSandbox(),
      open: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            calledOff.push(String(signal.reason));
            reject(signal.reason);
          });
        }),
    };
    await using api = await startLocalStorage({ sandbox });
    const [one, two] = [
      await api.containers.create({ name: "a" }),
      await api.containers.create({ name: "b" }),
    ];
    const outcomes = Promise.allSettled([
      api.containers.shell(one.id, "true", LIMITS),
      api.containers.shell(two.id, "true", LIMITS),
    ]);
    await new Promise((resolve) => setImmediate(resolve));
    await api.containers.delete(one.id);
    await api.containers[Symbol.asyncDispose]();
    expect(await outcomes).toMatchObject([
      { status: "rejected", reason: { status: 404 } },
      { status: "rejected", reason: { message: "The container has ended." } },
    ]);
    expect(calledOff).toEqual(Array(2).fill("Error: The container has ended."));
  });
});

describe("A file name that code used for a folder", () => {
  it("rejects a copied file and leaves no trace of it", async () => {
    await using api = await startLocalStorage();
    const path = api.files.incoming.createPath();
    writeFileSync(path, "x");
    const file = api.files.add({ path, bytes: 1, filename: "x.txt", purpose: "user_data" });
    const { id } = await api.containers.create({ name: "a" });
    mkdirSync(join(api.dataDir, "containers", id, "data", `${file.id}-x.txt`, "in"), {
      recursive: true,
    });
    await expect(api.containers.copyFile(id, file.id)).rejects.toThrow("EISDIR");
    expect((await api.containers.listFiles(id, { limit: 1, order: "asc" })).data).toEqual([]);
    expect(readdirSync(join(api.dataDir, "incoming"))).toEqual([]);
  });
});
