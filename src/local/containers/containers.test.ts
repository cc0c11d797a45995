import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createTemporaryDataDir,
  START,
  startLocalStorage,
} from "../../../tests/support/local-storage.ts";
import type { ContainerService } from "../tools/tool-services.ts";

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 10_000 };
const ALL = { limit: 100, order: "asc" } as const;
const MINUTE = 60_000;

type Api = Awaited<ReturnType<typeof startLocalStorage>>;

async function listPaths({ containers }: Api, id: string) {
  const { data } = await containers.listFiles(id, ALL);
  return data.map(({ path, source, bytes }) => [path, source, bytes]);
}

/** Uploads a file to a container. */
function upload({ containers, files }: Api, id: string, content: string) {
  const path = files.incoming.createPath();
  writeFileSync(path, content);
  return containers.upload(id, { path, bytes: content.length, filename: "in.txt" });
}

/** Lists the paths of all open files of this process, if the system supports it. */
function listOpenFiles(): readonly string[] {
  if (!existsSync("/proc/self/fd")) return [];
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(join("/proc/self/fd", descriptor))];
    } catch {
      return []; // that of the listing itself
    }
  });
}

describe("A container file", () => {
  it("is closed again if the container ends while the file is opened", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const { id: fileId, path } = await upload(api, id, "one");
    const opening = api.containers.openFile(id, fileId).catch((error: Error) => error.message);
    await Promise.all([opening, api.containers.expire(id)]);
    expect(await opening).toBe("Container is expired.");
    const name = path.replace("/mnt/data/", "");
    expect(listOpenFiles().filter((file) => file.includes(name))).toEqual([]);
  });
});

describe("Code in a container", () => {
  it("creates files that are listed with source assistant, real paths and stable ids", async () => {
    await using api = await startLocalStorage();
    const service: ContainerService = api.containers;
    const { id } = await service.create({ name: "a" });
    const run = await service.python(
      id,
      "import os; os.mkdir('sub'); open('sub/x.txt', 'w').write('hello'); open('日本\\n.txt', 'w').write('1'); print('done')",
      LIMITS,
    );
    expect(run).toMatchObject({ stdout: "done\n", error: null });
    expect(run.files.map(({ path }) => path).sort()).toEqual([
      "/mnt/data/sub/x.txt",
      "/mnt/data/日本\n.txt",
    ]);
    const { data } = await api.containers.listFiles(id, ALL);
    expect(data).toEqual(run.files);
    expect(data.every(({ source }) => source === "assistant")).toBe(true);
    const quiet = await api.containers.shell(id, "cat sub/x.txt", LIMITS);
    expect(quiet).toMatchObject({ stdout: "hello", exitCode: 0, files: [] });
    const file = data.find(({ path }) => path.endsWith("x.txt"));
    const { handle, filename } = await api.containers.openFile(id, file?.id ?? "");
    expect([String(await handle.readFile()), filename]).toEqual(["hello", "x.txt"]);
    await handle.close();
    expect(api.host.opened).toHaveLength(1);
  });

  it("becomes the source of files it changes, and removes files it deletes", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const one = await upload(api, id, "one");
    const two = await upload(api, id, "two");
    const name = (path: string) => path.replace("/mnt/data/", "");
    const command = `printf more >> ${name(one.path)}; rm ${name(two.path)}; chmod 600 *`;
    const run = await api.containers.shell(id, command, LIMITS);
    expect(run.files).toEqual([{ ...one, bytes: 7, source: "assistant" }]);
    expect(await listPaths(api, id)).toEqual([[one.path, "assistant", 7]]);
    await expect(api.containers.retrieveFile(id, two.id)).rejects.toThrow("not found");
    await expect(api.containers.deleteFile(id, two.id)).rejects.toThrow("not found");
  });

  it("gets its files reported to its own run, even if another caller lists them in the meantime", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const running = api.containers.shell(id, "echo 1 > early; sleep 0.3; echo 2 > late", LIMITS);
    await expect.poll(() => listPaths(api, id)).toHaveLength(1);
    await upload(api, id, "meanwhile");
    const { files } = await running;
    expect(files.map(({ path }) => path)).toEqual(["/mnt/data/early", "/mnt/data/late"]);
    expect(await listPaths(api, id)).toHaveLength(3);
  });

  it("runs one call after the other", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const runs = await Promise.all(
      ["sleep 0.2; echo 1 >> log", "echo 2 >> log", "cat log"].map((command) =>
        api.containers.shell(id, command, LIMITS),
      ),
    );
    expect(runs[2]?.stdout).toBe("1\n2\n");
    const gone = AbortSignal.abort(new Error("The client has gone."));
    const late = api.containers.shell(id, "echo 3", { ...LIMITS, signal: gone });
    await expect(late).rejects.toThrow("The client has gone.");
  });

  it("keeps its container alive while it runs and afterward", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const running = api.containers.shell(id, "sleep 0.3; echo on", LIMITS);
    await api.clock.advance(60 * MINUTE);
    expect((await running).stdout).toBe("on\n");
    await api.clock.advance(19 * MINUTE);
    expect(api.containers.retrieve(id).status).toBe("running");
  });

  it("is killed when its container is deleted", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const running = api.containers.shell(id, "exec sleep 60", LIMITS);
    const waiting = api.containers.python(id, "1", LIMITS);
    const outcomes = Promise.allSettled([running, waiting]);
    await expect.poll(() => api.host.opened.length).toBe(1);
    await api.containers.delete(id);
    const reason = expect.objectContaining({ status: 404 });
    expect(await outcomes).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    expect(api.host.ended).toEqual(api.host.opened);
  });
});

describe("Container expiry", () => {
  it("removes files and process permanently after the idle time", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a", expiresAfterMinutes: 2 });
    const other = await api.containers.create({ name: "b" });
    await api.containers.shell(id, "echo 1 > x", LIMITS);
    const folder = join(api.dataDir, "containers", id);
    await api.clock.advance(2 * MINUTE);
    // No request is made: the clock alone expires it.
    await expect.poll(() => existsSync(folder)).toBe(false);
    expect(api.host.ended).toEqual(api.host.opened);
    expect(api.containers.retrieve(id)).toMatchObject({
      status: "expired",
      last_active_at: START / 1000,
    });
    expect(() => api.containers.check(id)).toThrow("Container is expired.");
    await expect(api.containers.python(id, "1", LIMITS)).rejects.toThrow("Container is expired.");
    await api.containers.expire(id);
    expect(api.containers.retrieve(other.id).status).toBe("running");
  });

  it("is postponed by every use", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    const file = await upload(api, id, "x");
    const uses = [
      () => api.containers.retrieve(id),
      () => api.containers.listFiles(id, ALL),
      () => api.containers.retrieveFile(id, file.id),
      () => upload(api, id, "y"),
      () => api.containers.deleteFile(id, file.id),
    ];
    for (const use of uses) {
      await api.clock.advance(15 * MINUTE);
      await use();
    }
    expect(api.containers.retrieve(id)).toMatchObject({
      status: "running",
      last_active_at: (START + uses.length * 15 * MINUTE) / 1000,
    });
  });

  it("is not postponed or shown by a list, which reports every container as active now", async () => {
    await using api = await startLocalStorage();
    const first = await api.containers.create({ name: "a" });
    await api.clock.advance(15 * MINUTE);
    await api.containers.create({ name: "b" });
    api.containers.list(ALL);
    await api.clock.advance(10 * MINUTE);
    const now = (START + 25 * MINUTE) / 1000;
    expect(api.containers.list(ALL).data).toMatchObject([
      { name: "a", status: "expired", last_active_at: now },
      { name: "b", status: "running", last_active_at: now },
    ]);
    expect(api.containers.retrieve(first.id).last_active_at).toBe(START / 1000);
  });

  it("can be forced at once", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    await api.containers.expire(id);
    expect(api.containers.retrieve(id).status).toBe("expired");
    await expect(api.containers.expire("cntr_none")).rejects.toThrow("not found");
  });
});

describe("Restarting the containers", () => {
  it("restores containers by the clock, with their files", async () => {
    using folder = createTemporaryDataDir();
    const dataDir = folder.path;
    const ids = { live: "", dead: "", deleted: "" };
    {
      await using api = await startLocalStorage({ dataDir });
      ids.dead = (await api.containers.create({ name: "dead", expiresAfterMinutes: 1 })).id;
      ids.live = (await api.containers.create({ name: "live" })).id;
      ids.deleted = (await api.containers.create({ name: "deleted" })).id;
      await api.containers.delete(ids.deleted);
      await api.containers.shell(ids.live, "mkdir sub; echo 1 > sub/x", LIMITS);
      await upload(api, ids.live, "up");
      await upload(api, ids.dead, "up");
    }
    await using api = await startLocalStorage({ dataDir });
    await api.clock.advance(2 * MINUTE);
    expect(api.containers.retrieve(ids.live).status).toBe("running");
    expect(api.containers.retrieve(ids.dead).status).toBe("expired");
    expect(() => api.containers.retrieve(ids.deleted)).toThrow("not found");
    expect(await listPaths(api, ids.live)).toEqual([
      ["/mnt/data/sub/x", "assistant", 2],
      [expect.stringMatching(/-in\.txt$/), "user", 2],
    ]);
    const run = await api.containers.shell(ids.live, "cat sub/x", LIMITS);
    expect(run).toMatchObject({ stdout: "1\n", files: [] });
  });

  it("does not reopen closed containers", async () => {
    const api = await startLocalStorage();
    const { id } = await api.containers.create({ name: "a" });
    await api.containers[Symbol.asyncDispose]();
    await expect(api.containers.shell(id, "true", LIMITS)).rejects.toThrow(
      "The containers are closed.",
    );
    await api[Symbol.asyncDispose]();
  });
});

describe("Creating a container", () => {
  it("rejects an unknown memory tier or a deleted file, and leaves nothing behind", async () => {
    await using api = await startLocalStorage();
    await expect(api.containers.create({ name: "a", memoryLimit: "8g" })).rejects.toThrow(
      "Invalid value: '8g'.",
    );
    const { incoming } = api.files;
    writeFileSync(incoming.createPath(), "x");
    const path = incoming.createPath();
    writeFileSync(path, "x");
    const { id } = api.files.add({ path, bytes: 1, filename: "x", purpose: "user_data" });
    const copying = api.containers.create({ name: "a", fileIds: [id] });
    api.files.delete(id);
    await expect(copying).rejects.toThrow("No such File object");
    expect(api.containers.list(ALL).data).toEqual([]);
  });
});
