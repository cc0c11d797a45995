import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { decompressArchive } from "./decompress-archive.ts";

function createFile(bytes: string | Uint8Array) {
  const folder = temporaryTree({ given: bytes });
  return { path: join(folder, "given"), to: join(folder, "plain") };
}

describe("decompressArchive()", () => {
  test("writes the bytes of a gzip file, up to the limit", async () => {
    const { path, to } = createFile(gzipSync("x".repeat(1_000)));
    expect(await decompressArchive(path, to, { maxBytes: 1_000 })).toBe(to);
    expect(readFileSync(to, "utf8")).toBe("x".repeat(1_000));
  });

  test.each(["", "x", "plain"])(
    "returns the path of a file that is not compressed: %j",
    async (text) => {
      const { path, to } = createFile(text);
      expect(await decompressArchive(path, to, { maxBytes: 0 })).toBe(path);
      expect(existsSync(to)).toBe(false);
    },
  );

  test("stops at the limit, and names the archive", async () => {
    const { path, to } = createFile(gzipSync(Buffer.alloc(50_000_000)));
    await expect(decompressArchive(path, to, { maxBytes: 1_000_000 })).rejects.toMatchObject({
      ...{ name: "FilesystemError", code: "EFBIG", path },
      message: expect.stringContaining("unpacks to more than 1000000 bytes. Unpack it yourself."),
    });
  });

  test("rejects a damaged and a missing file, and names it", async () => {
    const { path, to } = createFile(gzipSync("x".repeat(1_000)).subarray(0, 15));
    await expect(decompressArchive(path, to, { maxBytes: 1_000 })).rejects.toMatchObject({
      ...{ name: "FilesystemError", code: "EINVAL", path },
      message: expect.stringContaining("cannot be decompressed: unexpected end of file."),
    });
    const gone = `${path}.gone`;
    await expect(decompressArchive(gone, to, { maxBytes: 1_000 })).rejects.toMatchObject({
      ...{ code: "ENOENT", path: gone },
    });
  });
});
