import { execFileSync } from "node:child_process";
import { createWriteStream, truncateSync, writeFileSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import {
  type CraftedEntry,
  createPaxRecords,
  createTar,
  createTarEntry,
} from "../../../../tests/support/crafted-tar.ts";
import { readTarContents } from "../../../../tests/support/read-tar-contents.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { packDirectory } from "../pack-directory.ts";
import { readTar, type TarLimits } from "./read-tar.ts";

const NO_LIMITS: TarLimits = { maxBytes: Infinity, maxEntries: Infinity };

const writeArchive = (tar: Uint8Array) => join(temporaryTree({ "a.tar": tar }), "a.tar");

const readEntries = (...entries: readonly CraftedEntry[]) =>
  readTarContents(writeArchive(createTar(...entries)));

const createPax = (fields: Readonly<Record<string, string | Buffer>>): CraftedEntry => ({
  type: "x",
  name: "PaxHeaders/a",
  content: createPaxRecords(fields),
});

describe("readTar()", () => {
  test("reads an archive that packDirectory() created", async () => {
    const large = Buffer.alloc(200_000, "abc");
    const long = `${"d".repeat(200)}/${"e".repeat(120)}`;
    const folder = temporaryTree({ "a/b": "1", large, é: "2", [long]: "3", none: null });
    const path = join(temporaryTree(), "a.tar");
    await pipeline(packDirectory(folder), createWriteStream(path));
    const { files, modes } = await readTarContents(path);
    expect(Object.keys(files)).toEqual(["a/b", long, "large", "é"]);
    expect(files["large"]?.equals(large)).toBe(true);
    expect(files[long]?.toString()).toBe("3");
    expect(modes["a/b"]).toBe(0o644);
  });

  test("returns file contents in chunks that the caller may change", async () => {
    const path = writeArchive(createTar({ content: Buffer.alloc(150_000, "x") }, { name: "b" }));
    const sizes: number[] = [];
    for await (const file of readTar(path, NO_LIMITS)) {
      for await (const chunk of file.read()) {
        sizes.push(chunk.length);
        chunk.fill(0);
      }
    }
    expect(sizes).toEqual([65_536, 65_536, 18_928]);
  });

  test("closes the archive if the caller stops early", async () => {
    const path = writeArchive(createTar({ content: "1" }, { name: "b", content: "2" }));
    const seen: string[] = [];
    for await (const file of readTar(path, NO_LIMITS)) {
      seen.push(file.path);
      if (file.path === "a") continue;
      const bytes = await collect(file.read());
      expect(Buffer.concat(bytes).toString()).toBe("2");
      break;
    }
    expect(seen).toEqual(["a", "b"]);
    expect(await listOpenFiles()).not.toContain(path);
  });

  test("rejects reading a file after the archive is closed", async () => {
    const path = writeArchive(createTar({ content: "1" }));
    const [file] = await collect(readTar(path, NO_LIMITS));
    await expect(collect(file?.read())).rejects.toThrow(
      "is closed. Read each entry before advancing to the next one.",
    );
  });

  test("ignores bytes after the end of the archive", async () => {
    const tar = Buffer.concat([createTar({ content: "1" }), Buffer.from("anything")]);
    expect(Object.keys((await readTarContents(writeArchive(tar))).files)).toEqual(["a"]);
  });

  test("reads a 200 MB file without filling the memory", async () => {
    const header = createTarEntry({ name: "large", size: 200e6 });
    const path = writeArchive(header);
    truncateSync(path, 512 + Math.ceil(200e6 / 512) * 512 + 1024);
    const before = process.memoryUsage.rss();
    let [bytes, most] = [0, 0];
    for await (const file of readTar(path, NO_LIMITS)) {
      for await (const chunk of file.read()) {
        bytes += chunk.length;
        most = Math.max(most, process.memoryUsage.rss() - before);
      }
    }
    expect(bytes).toBe(200e6);
    expect(most).toBeLessThan(160 * 1024 * 1024);
  });
});

describe("readTar() and entry names", () => {
  test("reads names from the prefix field, pax records and GNU long-name entries", async () => {
    const long = `${"d".repeat(150)}/${"e".repeat(150)}`;
    const { files } = await readEntries(
      { name: "c", prefix: "a/b", content: "1" },
      createPax({ path: `pax/${long}` }),
      { name: "short", content: "2" },
      { type: "L", name: "././@LongLink", content: `gnu/${long}\0` },
      { name: "short", magic: "ustar  \0", content: "3" },
      { type: "K", name: "././@LongLink", content: `${long}\0` },
      createPax({ path: "both" }),
      { type: "L", name: "././@LongLink", content: "neither\0" },
      { content: "4" },
      { name: "last", content: "5" },
    );
    expect(Object.entries(files).map(([path, bytes]) => [path, bytes.toString()])).toEqual([
      ["a/b/c", "1"],
      [`pax/${long}`, "2"],
      [`gnu/${long}`, "3"],
      ["both", "4"],
      ["last", "5"],
    ]);
  });

  test("accepts __proto__ as a file name", async () => {
    const { files } = await readEntries({ name: "__proto__", content: "1" });
    expect(Object.keys(files)).toEqual(["__proto__"]);
  });

  test.each(["/etc/passwd", "../a", "a/../../b"])(
    "rejects a name that leads out of the folder: %s",
    async (name) => {
      const message = `The archive's entry ${JSON.stringify(name)} leads out of its folder`;
      for (const entries of [
        [{ name }],
        [createPax({ path: name }), {}],
        [{ type: "L", content: name }, {}],
        [{ type: "5", name: `${name}/` }],
      ]) {
        await expect(readEntries(...entries)).rejects.toBeInstanceOf(WorkspaceSecurityError);
        await expect(readEntries(...entries)).rejects.toThrow(message);
      }
    },
  );

  test.each([
    ["a NUL", createPax({ path: "a\0b" }), "contains a control character"],
    ["a newline", { name: "a\nb" }, "contains a control character"],
    ["no characters", { name: "" }, "is empty"],
    ["only a dot", { name: "." }, "is in the archive twice"],
    [
      "half a character",
      { name: Buffer.from([0xc3]) },
      "that is not valid UTF-8. Rename the file.",
    ],
    [
      "invalid UTF-8",
      createPax({ path: Buffer.from([0xff]) }),
      "that is not valid UTF-8. Rename the file.",
    ],
  ])("rejects a name with %s", async (_, entry: CraftedEntry, problem) => {
    const reading = readEntries(entry, ...(entry.type === "x" ? [{}] : []));
    await expect(reading).rejects.toBeInstanceOf(FilesystemError);
    await expect(reading).rejects.toThrow(problem);
  });

  test("rejects a duplicate name", async () => {
    const reading = readEntries({ name: "a" }, { name: "./a" });
    await expect(reading).rejects.toMatchObject({ name: "FilesystemError", path: "./a" });
  });
});

describe("readTar() and entries that are neither files nor folders", () => {
  test.each([
    ["1", "hard link"],
    ["2", "symlink"],
    ["3", "device"],
    ["4", "device"],
    ["6", "pipe"],
    ["S", "sparse file"],
    ["Z", "file of unknown type"],
  ])("skips an entry of type %s and reports it", async (type, kind) => {
    const { files, skipped } = await readEntries({ name: "../odd", type }, { name: "b" });
    expect(Object.keys(files)).toEqual(["b"]);
    const reason = `is a ${kind}, and only files and folders are unpacked`;
    expect(skipped).toEqual([{ name: "../odd", reason }]);
  });

  test("skips sparse files and entries of unknown type with content", async () => {
    const { files, skipped } = await readEntries(
      createPax({ "GNU.sparse.major": "1" }),
      { name: "holes", content: "1\n0\n1\n" },
      { name: "odd", type: "Z", content: "2" },
      { type: "7", content: "3" },
    );
    expect(Object.keys(files)).toEqual(["a"]);
    expect(skipped.map(({ name }) => name)).toEqual(["holes", "odd"]);
  });

  test("skips entries without an onSkipped callback", async () => {
    const path = writeArchive(createTar({ type: "2" }, {}));
    expect(await collect(readTar(path, NO_LIMITS))).toHaveLength(1);
  });

  test("does not report pre-POSIX folders and global headers as skipped", async () => {
    const { files, skipped } = await readEntries(
      { type: "g", name: "pax_global_header", content: createPaxRecords({ path: "../all" }) },
      { name: "d/", type: "\0" },
      { name: "d/e", type: "\0" },
    );
    expect(Object.keys(files)).toEqual(["d/e"]);
    expect(skipped).toEqual([]);
  });
});

describe("readTar() limits", () => {
  const createThreeFiles = () =>
    writeArchive(createTar({ content: "12" }, { name: "b", content: "34" }, { name: "c" }));

  test("count the bytes of all files and name the file that exceeds maxBytes", async () => {
    expect(
      Object.keys((await readTarContents(createThreeFiles(), { maxBytes: 4 })).files),
    ).toHaveLength(3);
    await expect(readTarContents(createThreeFiles(), { maxBytes: 3 })).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EFBIG",
      path: "b",
      message: expect.stringContaining("brings the archive to 4 bytes, over the limit of 3"),
    });
  });

  test("count entries of every kind", async () => {
    expect(
      Object.keys((await readTarContents(createThreeFiles(), { maxEntries: 3 })).files),
    ).toHaveLength(3);
    await expect(readTarContents(createThreeFiles(), { maxEntries: 2 })).rejects.toMatchObject({
      code: "EFBIG",
      path: "c",
      message: expect.stringContaining("is entry 3, over the limit of 2"),
    });
    for (const type of ["1", "5", "g"]) {
      const path = writeArchive(createTar({ name: "a/", type }, { name: "b/", type }));
      await expect(readTarContents(path, { maxEntries: 1 })).rejects.toThrow("is entry 2");
    }
  });
});

describe("readTar() rejects an archive", () => {
  const tar = createTar(createPax({ path: "é" }), { content: "x".repeat(600) }, { name: "b" });

  test("that is cut off at any position", async () => {
    for (let length = 0; length < tar.length; length += length % 512 === 511 ? 1 : 511) {
      await expect(readTarContents(writeArchive(tar.subarray(0, length)))).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EINVAL",
        message: expect.stringContaining(`is cut off after ${length} bytes. Download it again.`),
      });
    }
  });

  test("that becomes shorter while it is read", async () => {
    const path = writeArchive(createTar({ content: Buffer.alloc(200_000) }));
    const readAll = async () => {
      for await (const file of readTar(path, NO_LIMITS)) {
        truncateSync(path, 100_000);
        await collect(file.read());
      }
    };
    await expect(readAll()).rejects.toThrow("is cut off");
  });

  test.each([
    ["a wrong checksum", [{ checksum: "0000000\0" }], 0],
    ["a size that is too small", [{ content: "x".repeat(600), size: 5 }], 1024],
    ["a size that is not a number", [{ size: "-1" }], 0],
    ["a link with bytes", [{}, { type: "2", content: "1" }], 512],
    ["a folder with bytes", [{ name: "a/", type: "5", content: "1" }], 0],
    ["a link with a pax size", [createPax({ size: "512" }), { type: "2" }, {}], 1024],
    ["malformed pax records", [{ type: "x", content: "5 path=a\n" }, {}], 0],
    [
      "two pax headers for one entry",
      [createPax({ path: "b" }), createPax({ path: "c" }), {}],
      1024,
    ],
    ["a name that would fill the memory", [{ type: "L", content: "a/".repeat(40_000) }, {}], 0],
    ["a pax header without an entry", [{}, createPax({ path: "b" })], 1536],
  ])("with %s", async (_, entries: readonly CraftedEntry[], at) => {
    await expect(readEntries(...entries)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      message: expect.stringContaining(`is damaged at byte ${at}. Create the archive again.`),
    });
  });

  test("with a size beyond its end, in octal, binary or pax", async () => {
    const large = Buffer.from("80000000000000ffffffffff", "hex");
    for (const entries of [
      [{ size: 8 ** 11 - 1 }],
      [{ size: large }],
      [createPax({ size: "2000" }), {}],
    ]) {
      await expect(readEntries(...entries)).rejects.toThrow("is cut off");
    }
  });

  test("with data between its two empty blocks", async () => {
    const odd = Buffer.concat([Buffer.alloc(512), createTar({})]);
    await expect(readTarContents(writeArchive(odd))).rejects.toThrow("is damaged at byte 0");
  });

  test("that is missing or a folder", async () => {
    const folder = temporaryTree();
    for (const [path, code] of [
      [join(folder, "gone"), "ENOENT"],
      [folder, "EISDIR"],
    ] as const) {
      await expect(readTarContents(path)).rejects.toMatchObject({
        name: "FilesystemError",
        code,
        message: expect.stringContaining("Make it readable, then try again"),
      });
    }
  });
});

test("readTar() uses a size that only a pax record has", async () => {
  const path = writeArchive(
    Buffer.concat([createTarEntry(createPax({ size: "513" })), createTarEntry({})]),
  );
  writeFileSync(path, Buffer.concat([Buffer.alloc(1024, "x"), Buffer.alloc(1024)]), { flag: "a" });
  expect((await readTarContents(path)).files["a"]?.length).toBe(513);
});

test("readTar() reads every format of GNU tar", async () => {
  const long = `${"d".repeat(90)}/${"e".repeat(90)}`;
  const folder = temporaryTree({ "a/b": "1", [long]: "2", é: "3" });
  for (const format of ["gnu", "oldgnu", "pax", "posix", "ustar"]) {
    const tar = execFileSync("tar", ["-C", folder, `--format=${format}`, "-cf", "-", "."]);
    const { files } = await readTarContents(writeArchive(tar));
    expect(Object.keys(files).sort()).toEqual(["a/b", long, "é"]);
  }
});

async function collect<Item>(items: AsyncIterable<Item> | undefined): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items ?? []) found.push(item);
  return found;
}

/** Lists the files that this process has open, if the system has `/proc`. */
async function listOpenFiles(): Promise<readonly string[]> {
  const names = await readdir("/proc/self/fd").catch(() => []);
  return await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
}
