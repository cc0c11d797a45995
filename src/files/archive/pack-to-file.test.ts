import {
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { quickClock } from "../../../tests/support/quick-clock.ts";
import { readTarContents } from "../../../tests/support/read-tar-contents.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { ByteProgress } from "../../base/track-bytes.ts";
import { packDirectory } from "./pack-directory.ts";
import { packToFile } from "./pack-to-file.ts";
import { writeTarFile } from "./tar/write-tar-file.ts";

/** Creates a folder with one file of `bytes` zeros. */
function createFolder(bytes: number): string {
  const folder = temporaryTree({ large: "" });
  truncateSync(join(folder, "large"), bytes);
  return folder;
}

describe("packToFile()", () => {
  test("writes the same bytes as packDirectory() although it reuses its buffer", async () => {
    const [full, rest] = [Buffer.alloc(700_000, "x"), Buffer.alloc(300_001, "y")];
    const folder = temporaryTree({ "a/b.txt": "hello", full, rest, short: "z", none: null });
    const path = join(temporaryTree(), "a.tar");
    await packToFile(folder, path);
    const tar = Buffer.from(await new Response(packDirectory(folder)).arrayBuffer());
    expect(readFileSync(path).equals(tar)).toBe(true);
    const again = join(temporaryTree(), "b.tar");
    writeTarFile({ folder, path: again });
    expect(readFileSync(again).equals(tar)).toBe(true);
  });

  test("keeps the permission bits of files and returns those that are not 644", async () => {
    const folder = temporaryTree({ "a/b.txt": "1", "run.sh": "2", plain: "3", odd: "4" });
    const modes = { "a/b.txt": 0o600, "run.sh": 0o755, odd: 0o4711 };
    for (const [path, mode] of Object.entries(modes)) chmodSync(join(folder, path), mode);
    const path = join(temporaryTree(), "a.tar");
    expect(Object.fromEntries(await packToFile(folder, path))).toEqual({ ...modes, odd: 0o711 });
    expect((await readTarContents(path)).modes).toEqual({ ...modes, odd: 0o711, plain: 0o644 });
    const tar = join(temporaryTree(), "b.tar");
    writeFileSync(tar, await new Response(packDirectory(folder)).bytes());
    expect((await readTarContents(tar)).modes).toEqual({
      ...{ "a/b.txt": 0o644, "run.sh": 0o755, odd: 0o755, plain: 0o644 },
    });
  });

  test("never overwrites an existing file", async () => {
    const path = join(temporaryTree({ "a.tar": "mine" }), "a.tar");
    const [folder, message] = [temporaryTree(), "Choose another path for the archive"];
    await expect(packToFile(folder, path)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EEXIST",
      message: expect.stringContaining(message),
    });
    expect(() => writeTarFile({ folder, path })).toThrow(message);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  test("rejects a folder that does not exist", async () => {
    const folder = join(temporaryTree(), "gone");
    const packing = packToFile(folder, join(temporaryTree(), "a.tar"));
    await expect(packing).rejects.toMatchObject({ name: "FilesystemError", path: `${folder}/` });
  });

  test("does not start after an abort, and stops on abort", async () => {
    const folder = createFolder(256 * 2 ** 20);
    const at = (name: string) => join(temporaryTree(), name);
    const before = packToFile(folder, at("a.tar"), { signal: AbortSignal.abort("enough") });
    await expect(before).rejects.toBe("enough");
    const controller = new AbortController();
    const packing = packToFile(folder, at("b.tar"), { signal: controller.signal });
    process.once("worker", () => controller.abort("later"));
    await expect(packing).rejects.toBe("later");
  });

  test("writes nothing if the tar would be larger than maxBytes", async () => {
    const folder = createFolder(10_000);
    const path = join(temporaryTree(), "a.tar");
    await expect(packToFile(folder, path, { maxBytes: 11_775 })).rejects.toMatchObject({
      name: "WorkspaceBudgetExceededError",
      message: expect.stringContaining('"large" (10000 bytes)'),
    });
    expect(existsSync(path)).toBe(false);
    await packToFile(folder, path, { maxBytes: 11_776 });
    expect(statSync(path).size).toBe(11_776);
  });

  test("reports how many bytes are packed", async () => {
    const reports: ByteProgress[] = [];
    const onProgress = (one: ByteProgress) => void reports.push(one);
    const path = join(temporaryTree(), "a.tar");
    const progress = { clock: quickClock, onProgress };
    await packToFile(createFolder(64 * 2 ** 20), path, { maxBytes: 2 ** 30, progress });
    const totalBytes = statSync(path).size;
    expect(reports.length).toBeGreaterThan(1);
    expect(reports.at(-1)).toEqual({ step: "pack", doneBytes: totalBytes, totalBytes });
  });

  test("rejects if its thread is killed", async () => {
    process.once("worker", (worker) => void worker.terminate());
    const packing = packToFile(createFolder(2 ** 20), join(temporaryTree(), "a.tar"));
    await expect(packing).rejects.toThrow(
      "The thread that packs the folder ended early. Pack it again",
    );
  });
});
