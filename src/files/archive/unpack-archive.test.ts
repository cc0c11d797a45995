import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CraftedEntry, createTar } from "../../../tests/support/crafted-tar.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { WinkError } from "../../base/errors.ts";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { type UnpackOptions, unpackArchive } from "./unpack-archive.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const NO_LIMITS = { maxBytes: Infinity, maxEntries: Infinity };

/** Writes an archive with these entries, and returns a function that unpacks it into a folder next to it. */
function createArchive(entries: readonly CraftedEntry[], more: Partial<UnpackOptions> = {}) {
  const folder = temporaryTree({ "a.tar": createTar(...entries) });
  const into = join(folder, "into");
  mkdirSync(into);
  const options: UnpackOptions = { into, limits: NO_LIMITS, note: "note.json", ...more };
  return { into, unpack: () => unpackArchive(join(folder, "a.tar"), options) };
}

/** Creates `files` entries with distinct texts of `bytes` bytes, and a note among them. */
function createEntries(files: number, bytes: number): readonly CraftedEntry[] {
  const all = Array.from({ length: files }, (_, place) => ({
    name: `d${place % 3}/f${place}`,
    content: String(place).padStart(bytes, "."),
    mode: place % 2 === 0 ? "0000644\0" : "0000755\0",
  }));
  return all.toSpliced(1, 0, { name: "note.json", content: "{}", mode: "0000644\0" });
}

/** Collects the threads that this test starts. */
function watchWorkers(): readonly Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on("worker", add);
  onTestFinished(() => void process.off("worker", add));
  return workers;
}

const hasExited = (worker: Worker) => worker.threadId === -1;

const LARGE = createEntries(40, 60_000);

describe("unpackArchive()", () => {
  test.each([
    ["a small archive, without a thread", createEntries(5, 10), 0],
    ["a medium archive, in one thread", createEntries(40, 5_000), 1],
    ["a large archive, in two threads", LARGE, 2],
  ])("returns the files in order with digests and modes: %s", async (_, entries, threads) => {
    const workers = watchWorkers();
    const { unpack } = createArchive(entries);
    const { files, note } = await unpack();
    expect(workers).toHaveLength(threads);
    expect(Buffer.from(note ?? []).toString()).toBe("{}");
    const wanted = entries.filter(({ name }) => name !== "note.json");
    expect(files.map(({ path, digest }) => [path, digest])).toEqual(
      wanted.map(({ name, content }) => [name, sha256(String(content))]),
    );
    for (const [place, { hostPath }] of files.entries()) {
      expect(readFileSync(hostPath, "utf8")).toBe(wanted[place]?.content);
      expect((statSync(hostPath).mode & 0o100) !== 0).toBe(place % 2 === 1);
    }
  });

  test("returns no note and no files for an empty archive", async () => {
    const empty = { files: [], note: null, folders: [], skipped: [] };
    expect(await createArchive([]).unpack()).toEqual(empty);
  });

  test.each([
    ["a small archive", createEntries(1, 10)],
    ["a large archive", LARGE],
  ])(
    "returns folders and skipped entries once, and only permission bits: %s",
    async (_, entries) => {
      const odd = [
        { name: "./", type: "5" },
        { name: "empty/", type: "5" },
        { name: "link", type: "2" },
        { name: "tool", mode: "0006750\0" },
      ];
      const { files, folders, skipped } = await createArchive([...odd, ...entries]).unpack();
      expect([folders, skipped.map(({ name }) => name)]).toEqual([["empty"], ["link"]]);
      expect(files.find(({ path }) => path === "tool")?.mode).toBe(0o750);
    },
  );

  test.each([
    ["a small archive", createEntries(3, 10)],
    ["a large archive", LARGE],
  ])("rejects the whole archive if a name leads out of the folder: %s", async (_, entries) => {
    const workers = watchWorkers();
    const { unpack, into } = createArchive([...entries, { name: "../evil", content: "evil" }]);
    const unpacking = unpack();
    await expect(unpacking).rejects.toThrow(WorkspaceSecurityError);
    await expect(unpacking).rejects.toThrow("leads out of its folder");
    expect(workers.every(hasExited)).toBe(true);
    expect(readdirSync(join(into, ".."))).toEqual(["a.tar", "into"]);
  });

  test("applies the limits in every thread", async () => {
    const { unpack } = createArchive(LARGE, { limits: { maxBytes: Infinity, maxEntries: 40 } });
    await expect(unpack()).rejects.toThrow("is entry 41, over the limit of 40");
  });

  test("does not start after an abort, and stops all threads on abort", async () => {
    const workers = watchWorkers();
    const before = createArchive(LARGE, { signal: AbortSignal.abort("enough") });
    await expect(before.unpack()).rejects.toBe("enough");
    expect(workers).toEqual([]);
    const controller = new AbortController();
    const { unpack } = createArchive(LARGE, { signal: controller.signal });
    process.once("worker", () => controller.abort("later"));
    await expect(unpack()).rejects.toBe("later");
    expect(workers).toHaveLength(2);
    expect(workers.every(hasExited)).toBe(true);
  });

  test("rejects if one thread is killed, and ends the other one", async () => {
    const workers = watchWorkers();
    process.once("worker", (worker) => void worker.terminate());
    const unpacking = createArchive(LARGE).unpack();
    await expect(unpacking).rejects.toBeInstanceOf(WinkError);
    await expect(unpacking).rejects.toThrow(
      "The thread that unpacks the archive ended early. Fetch it again",
    );
    expect(workers.every(hasExited)).toBe(true);
  });
});
