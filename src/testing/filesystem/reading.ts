import { expectSame } from "../contract/expect.ts";
import { expectCode, type FilesystemCase, writeFiles } from "./filesystem-case.ts";

const lines = ["one", "two", "three", "four"];

/** Cases about reading bytes, text and lines. */
export const readingCases: readonly FilesystemCase[] = [
  {
    name: "reads the written bytes, as a copy that the caller may change",
    async check(filesystem) {
      const written = Uint8Array.from({ length: 256 }, (_, index) => index);
      await filesystem.write("all", written);
      written.fill(7);
      const read = await filesystem.readBytes("all");
      expectSame([...read], [...Array(256).keys()], "the bytes");
      read.fill(9);
      expectSame(
        [...(await filesystem.readBytes("all"))],
        [...Array(256).keys()],
        "the bytes again",
      );
      await filesystem.write("none", new Uint8Array());
      expectSame((await filesystem.readBytes("none")).length, 0, "an empty file");
    },
  },
  {
    name: "rejects reading a missing path with ENOENT, a directory with EISDIR, and below a file with ENOTDIR",
    async check(filesystem) {
      await writeFiles(filesystem, "dir/file");
      const reads = {
        read: (path: string) => filesystem.read(path),
        readText: (path: string) => filesystem.readText(path),
        readBytes: (path: string) => filesystem.readBytes(path),
      };
      for (const [name, read] of Object.entries(reads)) {
        for (const path of ["gone", "dir/gone", "gone/gone"]) {
          await expectCode(read(path), "ENOENT", `${name} ${path}`);
        }
        for (const path of ["dir", "."]) await expectCode(read(path), "EISDIR", `${name} ${path}`);
        for (const path of ["dir/file/x", "dir/file/x/y"]) {
          await expectCode(read(path), "ENOTDIR", `${name} ${path}`);
        }
      }
    },
  },
  {
    name: "reads a window of lines and reports whether more follow",
    async check(filesystem) {
      await filesystem.writeText("f", `${lines.join("\n")}\n`);
      const readWindow = async (offset?: number, limit?: number) => {
        const { text, truncated, ...rest } = await filesystem.read("f", { offset, limit });
        expectSame(rest, { offset: offset ?? 0, totalLines: 4 }, "offset and total");
        return [text, truncated];
      };
      expectSame(await readWindow(), ["one\ntwo\nthree\nfour\n", false], "all");
      expectSame(await readWindow(0, 2), ["one\ntwo", true], "the first two");
      expectSame(await readWindow(2, 2), ["three\nfour\n", false], "the last two");
      expectSame(await readWindow(1, 1), ["two", true], "one in the middle");
      expectSame(await readWindow(3, 100), ["four\n", false], "beyond the end");
      expectSame(await readWindow(4), ["", false], "from the end on");
      expectSame(await readWindow(100), ["", false], "after the end");
      expectSame(await readWindow(1, 0), ["", true], "no line");
      expectSame(
        await readWindow(1, Number.POSITIVE_INFINITY),
        ["two\nthree\nfour\n", false],
        "the rest",
      );
    },
  },
  {
    name: "counts empty lines but not a final newline, and keeps carriage returns",
    async check(filesystem) {
      const texts = { "": 0, a: 1, "a\n": 1, "a\n\n": 2, "\n": 1, "a\r\nb\r\n": 2, "a\rb": 1 };
      for (const [text, totalLines] of Object.entries(texts)) {
        await filesystem.writeText("f", text);
        const all = { text, offset: 0, totalLines, truncated: false };
        expectSame(await filesystem.read("f"), all, JSON.stringify(text));
      }
    },
  },
  {
    name: "reads 2000 lines by default",
    async check(filesystem) {
      await filesystem.writeText("f", "x\n".repeat(2001));
      const { text, totalLines, truncated } = await filesystem.read("f");
      expectSame([text.length, totalLines, truncated], [3999, 2001, true], "the window");
      expectSame((await filesystem.read("f", { limit: 2001 })).truncated, false, "all of it");
    },
  },
  {
    name: "rejects an invalid offset or limit with EINVAL, even for a missing file",
    async check(filesystem) {
      for (const wrong of [-1, 1.5, Number.NaN, "1" as never]) {
        await expectCode(filesystem.read("gone", { offset: wrong }), "EINVAL", `offset ${wrong}`);
        await expectCode(filesystem.read("gone", { limit: wrong }), "EINVAL", `limit ${wrong}`);
      }
    },
  },
  {
    name: "rejects text that is not UTF-8 with EINVAL, and suggests readBytes",
    async check(filesystem) {
      await filesystem.write("f", Uint8Array.of(0x61, 0xff));
      for (const read of ["read", "readText"] as const) {
        const { message } = await expectCode(filesystem[read]("f"), "EINVAL", read);
        expectSame(message.includes("readBytes"), true, message);
      }
    },
  },
  {
    name: "writes and reads text in utf-8, utf-16le and latin1, and keeps a byte order mark",
    async check(filesystem) {
      const bytes = { "utf-8": [195, 169], "utf-16le": [233, 0], latin1: [233] };
      for (const [encoding, expected] of Object.entries(bytes)) {
        await filesystem.writeText("f", "é", encoding);
        expectSame([...(await filesystem.readBytes("f"))], expected, `the bytes in ${encoding}`);
        expectSame(await filesystem.readText("f", encoding), "é", encoding);
      }
      for (const encoding of ["utf-8", "utf-16le"]) {
        await filesystem.writeText("f", "\uFEFF🌱", encoding);
        expectSame(await filesystem.readText("f", encoding), "\uFEFF🌱", encoding);
      }
      const every = String.fromCharCode(...Array(256).keys());
      await filesystem.writeText("f", every, "latin1");
      expectSame(await filesystem.readText("f", "latin1"), every, "every character of latin1");
    },
  },
  {
    name: "rejects an unknown encoding, and text it cannot encode, with EINVAL and writes nothing",
    async check(filesystem) {
      await expectCode(filesystem.readText("gone", "klingon"), "EINVAL", "readText");
      await expectCode(filesystem.writeText("f", "x", "klingon"), "EINVAL", "writeText");
      await expectCode(filesystem.writeText("f", "x", "utf-16be"), "EINVAL", "writeText");
      await expectCode(filesystem.writeText("f", "€", "latin1"), "EINVAL", "writeText");
      await expectCode(
        filesystem.writeText("f", "a\uD83C", "utf-8"),
        "EINVAL",
        "half of a surrogate pair",
      );
      await expectCode(
        filesystem.writeText("f", 1 as never),
        "EINVAL",
        "text that is not a string",
      );
      await expectCode(filesystem.write("f", "x" as never), "EINVAL", "content that is not bytes");
      expectSame(await filesystem.exists("f"), false, "the file exists");
    },
  },
];
