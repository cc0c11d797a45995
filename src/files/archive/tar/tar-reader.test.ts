import { execFileSync } from "node:child_process";
import { createWriteStream, truncateSync, writeFileSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, expect, test } from "vitest";
import {
  type CraftedEntry,
  craftedEntry,
  craftedTar,
  paxRecords,
} from "../../../../tests/support/crafted-tar.ts";
import { tarContents } from "../../../../tests/support/tar-contents.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { packDirectory } from "../pack.ts";
import { readTar, type TarLimits } from "./tar-reader.ts";

const NO_LIMITS: TarLimits = { maxBytes: Infinity, maxEntries: Infinity };

const written = (tar: Uint8Array) => join(temporaryTree({ "a.tar": tar }), "a.tar");

const contentsOf = (...entries: readonly CraftedEntry[]) =>
  tarContents(written(craftedTar(...entries)));

const pax = (fields: Readonly<Record<string, string | Buffer>>): CraftedEntry => ({
  type: "x",
  name: "PaxHeaders/a",
  content: paxRecords(fields),
});

describe("a tar", () => {
  test("that we packed is read as it went in", async () => {
    const large = Buffer.alloc(200_000, "abc");
    const long = `${"d".repeat(200)}/${"e".repeat(120)}`;
    const folder = temporaryTree({ "a/b": "1", large, é: "2", [long]: "3", none: null });
    const path = join(temporaryTree(), "a.tar");
    await pipeline(packDirectory(folder), createWriteStream(path));
    const { files, modes } = await tarContents(path);
    expect(Object.keys(files)).toEqual(["a/b", long, "large", "é"]);
    expect(files["large"]?.equals(large)).toBe(true);
    expect(files[long]?.toString()).toBe("3");
    expect(modes["a/b"]).toBe(0o644);
  });

  test("is read in chunks, which are the reader's own", async () => {
    const path = written(craftedTar({ content: Buffer.alloc(150_000, "x") }, { name: "b" }));
    const sizes: number[] = [];
    for await (const file of readTar(path, NO_LIMITS)) {
      for await (const chunk of file.read()) {
        sizes.push(chunk.length);
        chunk.fill(0);
      }
    }
    expect(sizes).toEqual([65_536, 65_536, 18_928]);
  });

  test("need not be read to its end, nor any of its files", async () => {
    const path = written(craftedTar({ content: "1" }, { name: "b", content: "2" }));
    const seen: string[] = [];
    for await (const file of readTar(path, NO_LIMITS)) {
      seen.push(file.path);
      if (file.path === "a") continue;
      const bytes = await all(file.read());
      expect(Buffer.concat(bytes).toString()).toBe("2");
      break;
    }
    expect(seen).toEqual(["a", "b"]);
    expect(await openFiles()).not.toContain(path);
  });

  test("gives no bytes once it is closed", async () => {
    const path = written(craftedTar({ content: "1" }));
    const [file] = await all(readTar(path, NO_LIMITS));
    await expect(all(file?.read())).rejects.toThrow("is closed: read each entry when it is given");
  });

  test("may be of any length after its end", async () => {
    const tar = Buffer.concat([craftedTar({ content: "1" }), Buffer.from("anything")]);
    expect(Object.keys((await tarContents(written(tar))).files)).toEqual(["a"]);
  });

  test("never fills the memory, however large a file is", async () => {
    const header = craftedEntry({ name: "large", size: 200e6 });
    const path = written(header);
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

describe("a name", () => {
  test("may be in two parts, in a pax record or in an entry of GNU's", async () => {
    const long = `${"d".repeat(150)}/${"e".repeat(150)}`;
    const { files } = await contentsOf(
      { name: "c", prefix: "a/b", content: "1" },
      pax({ path: `pax/${long}` }),
      { name: "short", content: "2" },
      { type: "L", name: "././@LongLink", content: `gnu/${long}\0` },
      { name: "short", magic: "ustar  \0", content: "3" },
      { type: "K", name: "././@LongLink", content: `${long}\0` },
      pax({ path: "both" }),
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

  test("of a prototype is a name like any other", async () => {
    const { files } = await contentsOf({ name: "__proto__", content: "1" });
    expect(Object.keys(files)).toEqual(["__proto__"]);
  });

  test.each(["/etc/passwd", "../a", "a/../../b"])("that leads out is refused: %s", async (name) => {
    const said = `The archive's entry ${JSON.stringify(name)} leads out of its folder`;
    for (const entries of [
      [{ name }],
      [pax({ path: name }), {}],
      [{ type: "L", content: name }, {}],
      [{ type: "5", name: `${name}/` }],
    ]) {
      await expect(contentsOf(...entries)).rejects.toBeInstanceOf(WorkspaceSecurityError);
      await expect(contentsOf(...entries)).rejects.toThrow(said);
    }
  });

  test.each([
    ["a NUL", pax({ path: "a\0b" }), "holds a control character"],
    ["a new line", { name: "a\nb" }, "holds a control character"],
    ["nothing", { name: "" }, "is empty"],
    ["the folder itself", { name: "." }, "is in the archive twice"],
    ["half a character", { name: Buffer.from([0xc3]) }, "by what is not UTF-8: rename it there"],
    ["no text", pax({ path: Buffer.from([0xff]) }), "by what is not UTF-8: rename it there"],
  ])("that is %s is refused", async (_, entry: CraftedEntry, problem) => {
    const reading = contentsOf(entry, ...(entry.type === "x" ? [{}] : []));
    await expect(reading).rejects.toBeInstanceOf(FilesystemError);
    await expect(reading).rejects.toThrow(problem);
  });

  test("that is there twice is refused", async () => {
    const reading = contentsOf({ name: "a" }, { name: "./a" });
    await expect(reading).rejects.toMatchObject({ name: "FilesystemError", path: "./a" });
  });
});

describe("what is neither file nor folder", () => {
  test.each([
    ["1", "hard link"],
    ["2", "symlink"],
    ["3", "device"],
    ["4", "device"],
    ["6", "pipe"],
    ["S", "sparse file"],
    ["Z", "thing of an unknown kind"],
  ])("is skipped, and told: %s", async (type, kind) => {
    const { files, skipped } = await contentsOf({ name: "../odd", type }, { name: "b" });
    expect(Object.keys(files)).toEqual(["b"]);
    const reason = `is a ${kind}: only files and folders are taken`;
    expect(skipped).toEqual([{ name: "../odd", reason }]);
  });

  test("may be a file with holes, or of an unknown kind with content", async () => {
    const { files, skipped } = await contentsOf(
      pax({ "GNU.sparse.major": "1" }),
      { name: "holes", content: "1\n0\n1\n" },
      { name: "odd", type: "Z", content: "2" },
      { type: "7", content: "3" },
    );
    expect(Object.keys(files)).toEqual(["a"]);
    expect(skipped.map(({ name }) => name)).toEqual(["holes", "odd"]);
  });

  test("is not missed if nobody asks", async () => {
    const path = written(craftedTar({ type: "2" }, {}));
    expect(await all(readTar(path, NO_LIMITS))).toHaveLength(1);
  });

  test("is no folder from before there were folders, and no note on the archive", async () => {
    const { files, skipped } = await contentsOf(
      { type: "g", name: "pax_global_header", content: paxRecords({ path: "../all" }) },
      { name: "d/", type: "\0" },
      { name: "d/e", type: "\0" },
    );
    expect(Object.keys(files)).toEqual(["d/e"]);
    expect(skipped).toEqual([]);
  });
});

describe("a limit", () => {
  const three = () =>
    written(craftedTar({ content: "12" }, { name: "b", content: "34" }, { name: "c" }));

  test("of bytes counts all files, and names the one that is too much", async () => {
    expect(Object.keys((await tarContents(three(), { maxBytes: 4 })).files)).toHaveLength(3);
    await expect(tarContents(three(), { maxBytes: 3 })).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EFBIG",
      path: "b",
      message: expect.stringContaining("brings the archive to 4 bytes, over the limit of 3"),
    });
  });

  test("of entries counts whatever there is", async () => {
    expect(Object.keys((await tarContents(three(), { maxEntries: 3 })).files)).toHaveLength(3);
    await expect(tarContents(three(), { maxEntries: 2 })).rejects.toMatchObject({
      code: "EFBIG",
      path: "c",
      message: expect.stringContaining("is entry 3, over the limit of 2"),
    });
    for (const type of ["1", "5", "g"]) {
      const path = written(craftedTar({ name: "a/", type }, { name: "b/", type }));
      await expect(tarContents(path, { maxEntries: 1 })).rejects.toThrow("is entry 2");
    }
  });
});

describe("an archive is refused", () => {
  const tar = craftedTar(pax({ path: "é" }), { content: "x".repeat(600) }, { name: "b" });

  test("wherever it is cut off", async () => {
    for (let length = 0; length < tar.length; length += length % 512 === 511 ? 1 : 511) {
      await expect(tarContents(written(tar.subarray(0, length)))).rejects.toMatchObject({
        name: "FilesystemError",
        code: "EINVAL",
        message: expect.stringContaining(`is cut off after ${length} bytes: fetch it again`),
      });
    }
  });

  test("if it becomes shorter while it is read", async () => {
    const path = written(craftedTar({ content: Buffer.alloc(200_000) }));
    const reading = async () => {
      for await (const file of readTar(path, NO_LIMITS)) {
        truncateSync(path, 100_000);
        await all(file.read());
      }
    };
    await expect(reading()).rejects.toThrow("is cut off");
  });

  test.each([
    ["a checksum", [{ checksum: "0000000\0" }], 0],
    ["a size that is too small", [{ content: "x".repeat(600), size: 5 }], 1024],
    ["a size that is no number", [{ size: "-1" }], 0],
    ["a link with bytes", [{}, { type: "2", content: "1" }], 512],
    ["a folder with bytes", [{ name: "a/", type: "5", content: "1" }], 0],
    ["a link that pax gives bytes", [pax({ size: "512" }), { type: "2" }, {}], 1024],
    ["pax records", [{ type: "x", content: "5 path=a\n" }, {}], 0],
    ["two pax headers for one entry", [pax({ path: "b" }), pax({ path: "c" }), {}], 1024],
    ["a name that would fill the memory", [{ type: "L", content: "a/".repeat(40_000) }, {}], 0],
    ["a pax header for no entry", [{}, pax({ path: "b" })], 1536],
  ])("for %s", async (_, entries: readonly CraftedEntry[], at) => {
    await expect(contentsOf(...entries)).rejects.toMatchObject({
      name: "FilesystemError",
      code: "EINVAL",
      message: expect.stringContaining(`is damaged at byte ${at}: make the archive again`),
    });
  });

  test("for a size beyond its end, in octal, in bytes or in pax", async () => {
    const large = Buffer.from("80000000000000ffffffffff", "hex");
    for (const entries of [
      [{ size: 8 ** 11 - 1 }],
      [{ size: large }],
      [pax({ size: "2000" }), {}],
    ]) {
      await expect(contentsOf(...entries)).rejects.toThrow("is cut off");
    }
  });

  test("if there is anything between its two empty blocks", async () => {
    const odd = Buffer.concat([Buffer.alloc(512), craftedTar({})]);
    await expect(tarContents(written(odd))).rejects.toThrow("is damaged at byte 0");
  });

  test("if it is gone, or a folder", async () => {
    const folder = temporaryTree();
    for (const [path, code] of [
      [join(folder, "gone"), "ENOENT"],
      [folder, "EISDIR"],
    ] as const) {
      await expect(tarContents(path)).rejects.toMatchObject({
        name: "FilesystemError",
        code,
        message: expect.stringContaining("an archive is read whole, or not at all"),
      });
    }
  });
});

test("a size that only pax can say is believed", async () => {
  const path = written(Buffer.concat([craftedEntry(pax({ size: "513" })), craftedEntry({})]));
  writeFileSync(path, Buffer.concat([Buffer.alloc(1024, "x"), Buffer.alloc(1024)]), { flag: "a" });
  expect((await tarContents(path)).files["a"]?.length).toBe(513);
});

test("GNU's tar is read, in each of its formats", async () => {
  const long = `${"d".repeat(90)}/${"e".repeat(90)}`;
  const folder = temporaryTree({ "a/b": "1", [long]: "2", é: "3" });
  for (const format of ["gnu", "oldgnu", "pax", "posix", "ustar"]) {
    const tar = execFileSync("tar", ["-C", folder, `--format=${format}`, "-cf", "-", "."]);
    const { files } = await tarContents(written(tar));
    expect(Object.keys(files).sort()).toEqual(["a/b", long, "é"]);
  }
});

async function all<Item>(items: AsyncIterable<Item> | undefined): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items ?? []) found.push(item);
  return found;
}

/** Where the descriptors of this process lead, as far as the machine says so. */
async function openFiles(): Promise<readonly string[]> {
  const names = await readdir("/proc/self/fd").catch(() => []);
  return await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
}
