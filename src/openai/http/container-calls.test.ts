import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import { clientFactories } from "../../../tests/support/openai-clients.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import type { OpenAIClient } from "./client.ts";
import { ContainerCalls, type ContainerFile, isContainerGone } from "./container-calls.ts";

interface ProviderSetup {
  readonly calls: ContainerCalls;
  readonly clock: FakeClock;
}

async function startProvider(make: (url: string) => OpenAIClient): Promise<ProviderSetup> {
  const clock = fakeClock({ now: Date.parse("2026-03-01T12:00:00Z") });
  const provider = new LocalProvider({
    model: scriptedModel([]),
    sandbox: hostSandbox(),
    clock,
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  return { calls: new ContainerCalls(make(url)), clock };
}

async function listNames(files: AsyncIterable<ContainerFile>): Promise<readonly string[]> {
  return (await collect(files)).map(({ path }) => path.replace(/^\/mnt\/data\/[0-9a-f]{32}-/, ""));
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Returns the error of a promise that must reject. */
async function getFailure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("The promise was fulfilled");
}

describe.each(clientFactories)("ContainerCalls over %s", (_name, make) => {
  test("creates, checks and deletes a container, twice if necessary", async () => {
    const { calls } = await startProvider(make);
    const { id } = await calls.create({
      name: "mine",
      memory_limit: "4g",
      expires_after: { anchor: "last_active_at", minutes: 10 },
    });
    expect(id).toMatch(/^cntr_/);
    expect(await calls.getStatus(id)).toBe("running");
    await calls.remove(id);
    await calls.remove(id);
    const error = await getFailure(calls.getStatus(id));
    expect(error).toMatchObject({ name: "OpenAIRequestError", status: 404 });
    expect(isContainerGone(error)).toBe(true);
  });

  test("uploads, lists, downloads and deletes a file, twice if necessary", async () => {
    const { calls } = await startProvider(make);
    const { id } = await calls.create({ name: "mine" });
    const file = await calls.upload(id, new File(["hello"], "a b.txt"));
    expect(file).toEqual({
      id: expect.stringMatching(/^cfile_/),
      path: expect.stringMatching(/^\/mnt\/data\/[0-9a-f]{32}-a b\.txt$/),
      bytes: 5,
      createdAt: Date.parse("2026-03-01T12:00:00Z") / 1000,
      source: "user",
    });
    expect(await collect(calls.list(id))).toEqual([file]);
    expect(new TextDecoder().decode(await calls.download(id, file.id))).toBe("hello");
    await calls.removeFile(id, file.id);
    await calls.removeFile(id, file.id);
    expect(await collect(calls.list(id))).toEqual([]);
    const error = await getFailure(calls.download(id, file.id));
    expect(error).toMatchObject({ status: 404 });
    expect(isContainerGone(error)).toBe(false);
  });

  test("lists all pages in either order", async () => {
    const { calls } = await startProvider(make);
    const { id } = await calls.create({ name: "mine" });
    const names = Array.from({ length: 205 }, (_, place) => `f${String(place).padStart(3, "0")}`);
    for (const name of names) await calls.upload(id, new File(["x"], name));
    expect(await listNames(calls.list(id, { order: "asc" }))).toEqual(names);
    expect((await listNames(calls.list(id))).toSorted()).toEqual(names);
  });

  test("downloads a file to a new file on the host", async () => {
    const { calls } = await startProvider(make);
    const folder = temporaryTree();
    const { id } = await calls.create({ name: "mine" });
    const bytes = Uint8Array.from({ length: 1_000_003 }, (_, place) => (place * 31) % 256);
    const file = await calls.upload(id, new File([bytes], "a.bin"));
    const path = join(folder, "a.bin");
    expect(await calls.downloadTo(id, file.id, path)).toBe(bytes.length);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const empty = await calls.upload(id, new File([], "empty"));
    expect(await calls.downloadTo(id, empty.id, join(folder, "empty"))).toBe(0);
    expect(readFileSync(join(folder, "empty")).length).toBe(0);
  });

  test("does not overwrite an existing file", async () => {
    const { calls } = await startProvider(make);
    const { id } = await calls.create({ name: "mine" });
    const file = await calls.upload(id, new File(["new"], "a.txt"));
    const path = join(temporaryTree({ "a.txt": "old" }), "a.txt");
    await expect(calls.downloadTo(id, file.id, path)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EEXIST",
    });
    expect(readFileSync(path, "utf8")).toBe("old");
    const below = join(path, "b.txt");
    await expect(calls.downloadTo(id, file.id, below)).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("rejects a file longer than maxBytes and leaves no file", async () => {
    const { calls } = await startProvider(make);
    const { id } = await calls.create({ name: "mine" });
    const file = await calls.upload(id, new File(["x".repeat(1_000)], "a.txt"));
    const path = join(temporaryTree(), "a.txt");
    const problem = /returned more than 999 bytes. Raise maxBytes if you expect this size.$/;
    await expect(calls.download(id, file.id, { maxBytes: 999 })).rejects.toThrow(problem);
    await expect(calls.downloadTo(id, file.id, path, { maxBytes: 999 })).rejects.toThrow(problem);
    expect(existsSync(path)).toBe(false);
    expect((await calls.download(id, file.id, { maxBytes: 1_000 })).length).toBe(1_000);
    expect(await calls.downloadTo(id, file.id, path, { maxBytes: 1_000 })).toBe(1_000);
  });

  test("distinguishes an expired container from a missing file", async () => {
    const { calls, clock } = await startProvider(make);
    const { id } = await calls.create({ name: "mine" });
    const file = await calls.upload(id, new File(["x"], "a.txt"));
    await clock.advance(21 * 60_000);
    expect(await calls.getStatus(id)).toBe("expired");
    const path = join(temporaryTree(), "a.txt");
    const failing = [
      () => calls.upload(id, new File(["x"], "b.txt")),
      () => collect(calls.list(id)),
      () => calls.removeFile(id, file.id),
      () => calls.download(id, file.id),
      () => calls.downloadTo(id, file.id, path),
    ];
    for (const call of failing) {
      const error = await getFailure(call());
      expect(error).toMatchObject({ name: "OpenAIRequestError", status: 400 });
      expect(isContainerGone(error)).toBe(true);
    }
    expect(existsSync(path)).toBe(false);
    await calls.remove(id);
    expect(isContainerGone(await getFailure(calls.removeFile(id, file.id)))).toBe(true);
  });

  test("reports the provider's own error message", async () => {
    const { calls } = await startProvider(make);
    const asked = calls.create({ name: "", memory_limit: "1g" });
    const error = await getFailure(asked);
    expect(error).toMatchObject({ name: "OpenAIRequestError", status: 400, param: "name" });
    expect(String(error)).toContain("POST /containers failed with status 400: Invalid 'name'");
    expect(isContainerGone(error)).toBe(false);
  });

  test("rejects with the signal's reason in every call", async () => {
    const { calls } = await startProvider(make);
    const signal = AbortSignal.abort("enough");
    const path = join(temporaryTree(), "a.txt");
    const failing = [
      () => calls.create({ name: "mine" }, { signal }),
      () => calls.getStatus("cntr_1", { signal }),
      () => calls.remove("cntr_1", { signal }),
      () => calls.upload("cntr_1", new File(["x"], "a"), { signal }),
      () => collect(calls.list("cntr_1", { signal })),
      () => calls.removeFile("cntr_1", "cfile_1", { signal }),
      () => calls.download("cntr_1", "cfile_1", { signal }),
      () => calls.downloadTo("cntr_1", "cfile_1", path, { signal }),
    ];
    for (const call of failing) expect(await getFailure(call())).toBe("enough");
    expect(existsSync(path)).toBe(false);
  });
});
