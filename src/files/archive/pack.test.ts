import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { packDirectory } from "./pack.ts";
import { writeTar } from "./tar/tar-writer.ts";

const MEGABYTE = 1024 * 1024;

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer());
}

/** A folder with one file of so many bytes, all of them zeros. */
function folderOf(bytes: number): string {
  const folder = temporaryTree({ large: "" });
  truncateSync(join(folder, "large"), bytes);
  return folder;
}

/** The threads that this test starts, in order. */
function watchWorkers(): readonly Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on("worker", add);
  onTestFinished(() => void process.off("worker", add));
  return workers;
}

const hasExited = (worker: Worker | undefined) => worker?.threadId === -1;

describe("a packed folder", () => {
  test("is its tar", async () => {
    const folder = temporaryTree({ "a/b.txt": "hello", é: Buffer.alloc(700_000, "x"), e: null });
    const chunks: Uint8Array[] = [];
    writeTar(folder, (chunk) => chunks.push(chunk));
    const tar = await bytesOf(packDirectory(folder));
    expect(tar.equals(Buffer.concat(chunks))).toBe(true);
    const target = temporaryTree();
    execFileSync("tar", ["-xf", "-", "-C", target], { input: tar });
    expect(execFileSync("diff", ["-r", folder, target], { encoding: "utf8" })).toBe("");
  });

  test("costs nothing before somebody reads it", async () => {
    const workers = watchWorkers();
    const stream = packDirectory(temporaryTree({ a: "1" }));
    await setImmediate();
    expect(workers).toEqual([]);
    expect((await bytesOf(stream)).length).toBe(2048);
    expect(workers).toHaveLength(1);
    expect(hasExited(workers[0])).toBe(true);
  });

  test("waits for who reads it", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(folderOf(16 * MEGABYTE)).getReader();
    let [made, taken, furthest] = [0, 0, 0];
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (taken === 0) workers[0]?.on("message", () => (made += 1));
      taken += 1;
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      furthest = Math.max(furthest, made + 1 - taken);
    }
    expect(taken).toBe(65);
    expect(furthest).toBeGreaterThan(0);
    expect(furthest).toBeLessThanOrEqual(5);
  });

  test("never fills the memory, however large a file is", async () => {
    const before = process.memoryUsage.rss();
    let [bytes, most] = [0, 0];
    for await (const chunk of packDirectory(folderOf(256 * MEGABYTE))) {
      bytes += chunk.length;
      most = Math.max(most, process.memoryUsage.rss() - before);
    }
    expect(bytes).toBe(256 * MEGABYTE + 1536);
    expect(most).toBeLessThan(160 * MEGABYTE);
  });
});

describe("a thread ends", () => {
  test("when the stream is cancelled, read from or not", async () => {
    const workers = watchWorkers();
    const folder = folderOf(64 * MEGABYTE);
    const stream = packDirectory(folder);
    const reader = stream.getReader();
    await reader.read();
    expect(hasExited(workers[0])).toBe(false);
    await reader.cancel();
    expect(hasExited(workers[0])).toBe(true);
    await packDirectory(folder).cancel();
    expect(workers).toHaveLength(1);
  });

  test("when the stream is cancelled while somebody waits for it", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(folderOf(64 * MEGABYTE)).getReader();
    const read = reader.read();
    while (workers.length === 0) await setImmediate();
    await reader.cancel();
    await expect(read).resolves.toEqual({ done: true, value: undefined });
    expect(hasExited(workers[0])).toBe(true);
  });

  test("when the signal aborts, and the stream fails with its reason", async () => {
    const workers = watchWorkers();
    const controller = new AbortController();
    const { signal } = controller;
    const reader = packDirectory(folderOf(64 * MEGABYTE), { signal }).getReader();
    await reader.read();
    const exited = new Promise((resolve) => workers[0]?.once("exit", resolve));
    controller.abort("enough");
    await expect(reader.read()).rejects.toBe("enough");
    await exited;
    expect(workers).toHaveLength(1);
  });

  test("before it starts, if the signal has aborted", async () => {
    const workers = watchWorkers();
    const stream = packDirectory(temporaryTree(), { signal: AbortSignal.abort("no") });
    await expect(stream.getReader().read()).rejects.toBe("no");
    expect(workers).toEqual([]);
  });

  test("and an abort afterwards is nobody's business", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const tar = await bytesOf(packDirectory(temporaryTree({ a: "" }), { signal }));
    controller.abort();
    expect(tar.length).toBe(1536);
  });

  test("and the stream fails, when it is killed", async () => {
    const workers = watchWorkers();
    const reader = packDirectory(folderOf(64 * MEGABYTE)).getReader();
    await reader.read();
    await workers[0]?.terminate();
    const rest = async () => {
      for (let chunks = 0; chunks < 10; chunks++) await reader.read();
    };
    await expect(rest()).rejects.toBeInstanceOf(WinkError);
    await expect(reader.read()).rejects.toThrow("ended before it was done");
  });
});

test("what cannot be packed makes the stream fail", async () => {
  const folder = temporaryTree();
  const workers = watchWorkers();
  await expect(bytesOf(packDirectory(join(folder, "gone")))).rejects.toMatchObject({
    name: "FilesystemError",
    code: "ENOENT",
    path: `${join(folder, "gone")}/`,
  });
  expect(hasExited(workers[0])).toBe(true);
});

test("a process ends though a stream of it was never read to its end", () => {
  const folder = folderOf(64 * MEGABYTE);
  const code = `
    const { packDirectory } = await import(${JSON.stringify(new URL("./pack.ts", import.meta.url).href)});
    const reader = packDirectory(${JSON.stringify(folder)}).getReader();
    const { value } = await reader.read();
    console.log(value.length);
  `;
  const args = ["--input-type=module", "-e", code];
  const said = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 4_000 });
  expect(said).toBe("262144\n");
});
