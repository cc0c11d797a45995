import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { unpackArchive } from "../../src/files/archive/unpack-archive.ts";
import { applyChangesSync } from "../../src/files/sync/apply-changes-sync.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { measureStall } from "../support/attacks/measure-stall.ts";
import { SECRET } from "../support/attacks/swapped-tree.ts";
import { type CraftedEntry, createPaxRecords, createTar } from "../support/crafted-tar.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "archives";
const limits = { maxBytes: 64 * 2 ** 20, maxEntries: 10_000 };

/** Unpacks an archive as a workspace does: to numbered files, which are then moved to their paths. */
async function unpack(tar: Uint8Array) {
  const folder = temporaryTree({ outside: SECRET, "root/f": "x" });
  const into = join(folder, "into");
  mkdirSync(into);
  writeFileSync(join(folder, "a.tar"), tar);
  const root = join(folder, "root");
  const unpacked = await unpackArchive(join(folder, "a.tar"), { into, limits });
  const files = unpacked.files.map(({ path, hostPath }) => [path, hostPath] as const);
  const task = { root, deleted: [], pruneFolders: false, removedFolders: [], files };
  const failed = applyChangesSync({ ...task, folders: unpacked.folders });
  return { folder, root, failed, skipped: unpacked.skipped };
}

/** Lists the entries in the root that are neither files nor folders, and files of the host with other text. */
function findDamage({ folder, root }: { readonly folder: string; readonly root: string }) {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  const special = names.filter((name) => {
    const stats = lstatSync(join(root, name));
    return !stats.isFile() && !stats.isDirectory();
  });
  const isSame = readFileSync(join(folder, "outside"), "utf8") === SECRET;
  return [...special, ...(isSame ? [] : ["the file outside has changed"])];
}

/** Unpacks crafted archives. Each must fail, or leave only files and folders inside. */
async function unpackAll(archives: readonly (readonly CraftedEntry[])[]) {
  const through: string[] = [];
  for (const [index, entries] of archives.entries()) {
    const result = await unpack(createTar(...entries)).catch(() => null);
    if (result) through.push(...findDamage(result).map((found) => `archive ${index}: ${found}`));
  }
  return { tried: archives.length, through };
}

const pax = (fields: Readonly<Record<string, string>>): CraftedEntry => ({
  type: "x",
  name: "PaxHeaders/a",
  content: createPaxRecords(fields),
});

attempt(
  {
    finding: "own",
    surface,
    tries: "a symlink entry to the outside, then files below it and over it",
    shows: "Links are skipped, and a file below one lands in an ordinary folder.",
  },
  () =>
    unpackAll([
      [
        { type: "2", name: "d" },
        { name: "d/outside", content: "overwritten" },
      ],
      [
        { type: "2", name: "outside" },
        { name: "outside", content: "overwritten" },
      ],
      [
        { type: "2", name: "d/" },
        { type: "5", name: "d/" },
        { name: "d/f", content: "x" },
      ],
    ]),
);

attempt(
  {
    finding: "own",
    surface,
    tries: "hard links to host files, and files with the name of a link",
    shows: "Hard links are skipped: no entry of an archive refers to a file of the host.",
  },
  () =>
    unpackAll([
      [
        { type: "1", name: "passwd" },
        { name: "passwd", content: "x" },
      ],
      [
        { name: "a", content: "x" },
        { type: "1", name: "b" },
      ],
      [
        { type: "1", name: "../outside" },
        { name: "g", content: "x" },
      ],
    ]),
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "names that leave the folder only in a long-name entry, after a NUL, in a prefix or in a pax record",
    shows: "The name that is checked is the name that is used.",
  },
  () =>
    unpackAll([
      [
        { type: "L", name: "././@LongLink", content: "../outside\0" },
        { name: "safe", content: "y" },
      ],
      [
        { type: "L", name: "l", content: "safe\0/../../outside" },
        { name: "x", content: "y" },
      ],
      [{ prefix: "..", name: "outside", content: "y" }],
      [{ prefix: "a/../..", name: "outside", content: "y" }],
      [pax({ path: "../outside" }), { name: "safe", content: "y" }],
      [pax({ path: "safe", linkpath: "../outside" }), { type: "2", name: "x" }],
      [pax({ path: "d\\..\\..\\outside" }), { name: "safe", content: "y" }],
      [pax({ path: "/etc/planted" }), { name: "safe", content: "y" }],
    ]),
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "sizes in pax records that are negative, fractional, in other notations, or larger than the archive",
    shows: "Only plain decimal sizes within the archive are accepted.",
  },
  async () => {
    const sizes = [
      "-1",
      "1e3",
      "0x10",
      " 5",
      "+5",
      "5.0",
      "",
      "9".repeat(30),
      "NaN",
      "1099511627776",
    ];
    const through: string[] = [];
    for (const size of sizes) {
      const tar = createTar(pax({ size }), { name: "a", content: "12345" });
      const result = await unpack(tar).catch(() => null);
      if (result) through.push(`size ${JSON.stringify(size)} was accepted`);
    }
    return { tried: sizes.length, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "sparse files of every GNU and pax format that claim a terabyte",
    shows: "Sparse files are skipped, and their claimed size is never allocated.",
  },
  () =>
    unpackAll([
      [{ type: "S", name: "s", content: "x" }],
      [pax({ "GNU.sparse.major": "1", "GNU.sparse.realsize": "1099511627776" }), { name: "s" }],
      [pax({ "GNU.sparse.size": "1099511627776", "GNU.sparse.map": "0,1" }), { name: "s" }],
      [pax({ "GNU.sparse.name": "../outside" }), { name: "s", content: "x" }],
    ]),
);

attempt(
  {
    finding: "own",
    surface,
    tries: "files with setuid, setgid and sticky bits",
    shows: "Unpacked files have mode 644 or 755.",
  },
  async () => {
    const modes = ["0006777\0", "0004755\0", "0002644\0", "0007000\0"];
    const entries = modes.map((mode, n) => ({ name: `f${n}`, mode, content: "#!" }));
    const { root } = await unpack(createTar(...entries));
    const found = entries.map(({ name }) => statSync(join(root, name)).mode & 0o7777);
    const through = found.filter((mode) => mode !== 0o644 && mode !== 0o755);
    return { tried: modes.length, through: through.map((mode) => mode.toString(8)) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "devices, pipes, and entries of unknown kinds, with and without content",
    shows: "They are skipped or make the archive invalid. None is created.",
  },
  () =>
    unpackAll(
      [..."346DMNVXZ"].flatMap((type) => [
        [{ type, name: "special" }],
        [{ type, name: "special", content: "x".repeat(600) }],
      ]),
    ),
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "one path as a file and as a folder, twice under different spellings, and a file named .",
    shows: "Paths are compared after they are normalized, and a second use is refused.",
  },
  async () => {
    const archives: readonly (readonly CraftedEntry[])[] = [
      [{ name: "a" }, { name: "./a" }],
      [{ name: "a" }, { name: "a/b" }],
      [{ name: "a/b" }, { name: "a" }],
      [{ name: "." }],
      [{ name: "a/." }, { name: "a" }],
      [{ name: "d/../a" }],
      [{ name: "a//b" }],
    ];
    const through: string[] = [];
    for (const entries of archives) {
      const result = await unpack(createTar(...entries)).catch(() => null);
      if (result && result.failed.length === 0) through.push(JSON.stringify(entries));
    }
    return { tried: archives.length, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "20,000 empty entries, 5,000 nested folders in one name, and a pax header of 80 KB",
    shows: "Entries, depth and the size of headers are limited.",
  },
  async () => {
    const archives = {
      entries: createTar(...Array.from({ length: 20_000 }, (_, n) => ({ name: `f${n}` }))),
      depth: createTar(pax({ path: "d/".repeat(5_000) }), { name: "x" }),
      header: createTar(pax({ comment: "x".repeat(80_000) }), { name: "x" }),
    };
    const through: string[] = [];
    for (const [what, tar] of Object.entries(archives)) {
      const { stallMs, outcome } = await measureStall(() => unpack(tar));
      if (typeof outcome !== "string") through.push(`${what} was unpacked`);
      if (stallMs > 5_000) through.push(`${what} stalled the program for ${stallMs} ms`);
    }
    return { tried: 3, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "a gzip stream, a text and an empty file instead of a tar",
    shows: "They are damaged archives, and no file is written.",
  },
  async () => {
    const archives = [gzipSync(createTar({ name: "a" })), Buffer.from("text"), Buffer.alloc(0)];
    const results = await Promise.all(archives.map((tar) => unpack(tar).catch(() => null)));
    return {
      tried: archives.length,
      through: results.filter((result) => result !== null).map(() => "it was unpacked"),
    };
  },
);
