import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { packDirectory } from "./pack-directory.ts";
import { writeTar } from "./tar/write-tar.ts";

const MEGABYTE = 1024 * 1024;

async function readBytes(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer());
}

/** Creates a folder with one file of `bytes` zeros. */
function createFolder(bytes: number): string {
  const folder = temporaryTree({ large: "" });
  truncateSync(join(folder, "large"), bytes);
  return folder;
}

/** Collects the threads that this test starts, in order. */
function watchWorkers(): readonly Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on("worker", add);
  onTestFinished(() => void process.off("worker", add));
  return workers;
}

const hasExited = (worker: Worker | undefined) => worker?.threadId === -1;

describe("packDirectory()", () => {
  test("streams a tar that unpacks to the same tree", async () => {
    const folder = temporaryTree({ "a/b.txt": "hello", é: Buffer.alloc(700_000, "x"), e: null });
    const chunks: Uint8Array[] = [];
    writeTar(folder, (chunk) => chunks.push(chunk));
    const tar = await readBytes(packDirectory(folder));
    expect(tar.equals(Buffer.concat(chunks))).toBe(true);
    const target = temporaryTree();
    execFileSync("tar", ["-xf", "-", "-C", target], { input: tar });
    expect(execFileSync("diff", ["-r", folder, target], { encoding: "utf8" })).toBe("");
  });

  test("starts no thread before the stream is read", async () => {
    const workers = watchWorkers();
    const stream = packDirectory(temporaryTree({ a: "1" }));
    await setImmediate();
    expect(workers).toEqual([]);
    expect((await readBytes(stream)).length).toBe(2048);
    expect(workers).toHaveLength(1);
    expect(hasExited(workers[0])).toBe(true);
  });

  test("produces at most five chunks ahead of the reader", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(createFolder(16 * MEGABYTE)).getReader();
    let [produced, received, furthest] = [0, 0, 0];
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (received === 0) workers[0]?.on("message", () => (produced += 1));
      received += 1;
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      furthest = Math.max(furthest, produced + 1 - received);
    }
    expect(received).toBe(65);
    expect(furthest).toBeGreaterThan(0);
    expect(furthest).toBeLessThanOrEqual(5);
  });

  test("packs a 256 MB file without filling the memory", async () => {
    const before = process.memoryUsage.rss();
    let [bytes, most] = [0, 0];
    for await (const chunk of packDirectory(createFolder(256 * MEGABYTE))) {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage.rss() - before);
    }
    expect(bytes).toBe(256 * MEGABYTE + 1536);
    expect(most).toBeLessThan(160 * MEGABYTE);
  });
});

describe("the thread of packDirectory()", () => {
  test("ends when the stream is canceled, whether it was read or not", async () => {
    const workers = watchWorkers();
    const folder = createFolder(64 * MEGABYTE);
    const stream = packDirectory(folder);
    const reader = stream.getReader();
    await reader.read();
    expect(hasExited(workers[0])).toBe(false);
    await reader.cancel();
    expect(hasExited(workers[0])).toBe(true);
    await packDirectory(folder).cancel();
    expect(workers).toHaveLength(1);
  });

  test("ends when the stream is canceled during a read", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(createFolder(64 * MEGABYTE)).getReader();
    const read = reader.read();
    while (workers.length === 0) await setImmediate();
    await reader.cancel();
    await expect(read).resolves.toEqual({ done: true, value: undefined });
    expect(hasExited(workers[0])).toBe(true);
  });

  test("ends when the signal aborts, and the stream fails with the signal's reason", async () => {
    const workers = watchWorkers();
    const controller = new AbortController();
    const { signal } = controller;
    const reader = packDirectory(createFolder(64 * MEGABYTE), { signal }).getReader();
    await reader.read();
    const exited = new Promise((resolve) => workers[0]?.once("exit", resolve));
    controller.abort("enough");
    await expect(reader.read()).rejects.toBe("enough");
    await exited;
    expect(workers).toHaveLength(1);
  });

  test("never starts if the signal is already aborted", async () => {
    const workers = watchWorkers();
    const stream = packDirectory(temporaryTree(), { signal: AbortSignal.abort("no") });
    await expect(stream.getReader().read()).rejects.toBe("no");
    expect(workers).toEqual([]);
  });

  test("ignores an abort after the stream has ended", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const tar = await readBytes(packDirectory(temporaryTree({ a: "" }), { signal }));
    controller.abort();
    expect(tar.length).toBe(1536);
  });

  test("makes the stream fail when it is killed", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(createFolder(64 * MEGABYTE)).getReader();
    await reader.read();
    await workers[0]?.terminate();
    const rest = async () => {
      for (let chunks = 0; chunks < 10; chunks++) await reader.read();
    };
    await expect(rest()).rejects.toBeInstanceOf(WinkError);
    await expect(reader.read()).rejects.toThrow("ended early");
  });
});

test("packDirectory() fails if the folder does not exist", async () => {
  const folder = temporaryTree();
  const workers = watchWorkers();
  await expect(readBytes(packDirectory(join(folder, "gone")))).rejects.toMatchObject({
    name: "FilesystemError",
    code: "ENOENT",
    path: `${join(folder, "gone")}/`,
  });
  expect(hasExited(workers[0])).toBe(true);
});

test("packDirectory() does not keep the process alive if the stream is abandoned", () => {
  const folder = createFolder(64 * MEGABYTE);
  const code = `
    const { packDirectory } = await import(${JSON.stringify(new URL("./pack-directory.ts", import.meta.url).href)});
    const reader = packDirectory(${JSON.stringify(folder)}).getReader();
    const { value } = await reader.read();
    console.log(value.length);
  `;
  const args = ["--input-type=module", "-e", code];
  const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 4_000 });
  expect(output).toBe("262144\n");
});
