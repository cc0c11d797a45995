import { same } from "../contract/expect.ts";
import { type FilesystemCase, fill, refuses } from "./filesystem-case.ts";

const lines = ["one", "two", "three", "four"];

/** Reading bytes, text and lines. */
export const readingCases: readonly FilesystemCase[] = [
  {
    name: "bytes are read as they were written, and belong to whoever reads them",
    async check(filesystem) {
      const written = Uint8Array.from({ length: 256 }, (_, index) => index);
      await filesystem.write("all", written);
      written.fill(7);
      const read = await filesystem.readBytes("all");
      same([...read], [...Array(256).keys()], "the bytes");
      read.fill(9);
      same([...(await filesystem.readBytes("all"))], [...Array(256).keys()], "the bytes again");
      await filesystem.write("none", new Uint8Array());
      same((await filesystem.readBytes("none")).length, 0, "an empty file");
    },
  },
  {
    name: "reading what is missing is ENOENT, a directory EISDIR, below a file ENOTDIR",
    async check(filesystem) {
      await fill(filesystem, "dir/file");
      const reads = {
        read: (path: string) => filesystem.read(path),
        readText: (path: string) => filesystem.readText(path),
        readBytes: (path: string) => filesystem.readBytes(path),
      };
      for (const [name, read] of Object.entries(reads)) {
        for (const path of ["gone", "dir/gone", "gone/gone"]) {
          await refuses(read(path), "ENOENT", `${name} ${path}`);
        }
        for (const path of ["dir", "."]) await refuses(read(path), "EISDIR", `${name} ${path}`);
        for (const path of ["dir/file/x", "dir/file/x/y"]) {
          await refuses(read(path), "ENOTDIR", `${name} ${path}`);
        }
      }
    },
  },
  {
    name: "read gives a window of lines and says whether more follow",
    async check(filesystem) {
      await filesystem.writeText("f", `${lines.join("\n")}\n`);
      const window = async (offset?: number, limit?: number) => {
        const { text, truncated, ...rest } = await filesystem.read("f", { offset, limit });
        same(rest, { offset: offset ?? 0, totalLines: 4 }, "offset and total");
        return [text, truncated];
      };
      same(await window(), ["one\ntwo\nthree\nfour\n", false], "all");
      same(await window(0, 2), ["one\ntwo", true], "the first two");
      same(await window(2, 2), ["three\nfour\n", false], "the last two");
      same(await window(1, 1), ["two", true], "one in the middle");
      same(await window(3, 100), ["four\n", false], "beyond the end");
      same(await window(4), ["", false], "from the end on");
      same(await window(100), ["", false], "after the end");
      same(await window(1, 0), ["", true], "no line");
      same(await window(1, Number.POSITIVE_INFINITY), ["two\nthree\nfour\n", false], "the rest");
    },
  },
  {
    name: "a final newline makes no line, an empty line does, and carriage returns stay",
    async check(filesystem) {
      const texts = { "": 0, a: 1, "a\n": 1, "a\n\n": 2, "\n": 1, "a\r\nb\r\n": 2, "a\rb": 1 };
      for (const [text, totalLines] of Object.entries(texts)) {
        await filesystem.writeText("f", text);
        const all = { text, offset: 0, totalLines, truncated: false };
        same(await filesystem.read("f"), all, JSON.stringify(text));
      }
    },
  },
  {
    name: "2000 lines are read unless more are asked for",
    async check(filesystem) {
      await filesystem.writeText("f", "x\n".repeat(2001));
      const { text, totalLines, truncated } = await filesystem.read("f");
      same([text.length, totalLines, truncated], [3999, 2001, true], "the window");
      same((await filesystem.read("f", { limit: 2001 })).truncated, false, "all of it");
    },
  },
  {
    name: "a window that is no whole number is EINVAL, even of what is missing",
    async check(filesystem) {
      for (const wrong of [-1, 1.5, Number.NaN, "1" as never]) {
        await refuses(filesystem.read("gone", { offset: wrong }), "EINVAL", `offset ${wrong}`);
        await refuses(filesystem.read("gone", { limit: wrong }), "EINVAL", `limit ${wrong}`);
      }
    },
  },
  {
    name: "text that is not UTF-8 is EINVAL, and the error names readBytes",
    async check(filesystem) {
      await filesystem.write("f", Uint8Array.of(0x61, 0xff));
      for (const read of ["read", "readText"] as const) {
        const { message } = await refuses(filesystem[read]("f"), "EINVAL", read);
        same(message.includes("readBytes"), true, message);
      }
    },
  },
  {
    name: "text is written and read in utf-8, utf-16le and latin1, and a byte order mark is text",
    async check(filesystem) {
      const bytes = { "utf-8": [195, 169], "utf-16le": [233, 0], latin1: [233] };
      for (const [encoding, expected] of Object.entries(bytes)) {
        await filesystem.writeText("f", "é", encoding);
        same([...(await filesystem.readBytes("f"))], expected, `the bytes in ${encoding}`);
        same(await filesystem.readText("f", encoding), "é", encoding);
      }
      for (const encoding of ["utf-8", "utf-16le"]) {
        await filesystem.writeText("f", "\uFEFF🌱", encoding);
        same(await filesystem.readText("f", encoding), "\uFEFF🌱", encoding);
      }
      const every = String.fromCharCode(...Array(256).keys());
      await filesystem.writeText("f", every, "latin1");
      same(await filesystem.readText("f", "latin1"), every, "every character of latin1");
    },
  },
  {
    name: "an encoding nobody knows, and text that it cannot hold, are EINVAL and write nothing",
    async check(filesystem) {
      await refuses(filesystem.readText("gone", "klingon"), "EINVAL", "readText");
      await refuses(filesystem.writeText("f", "x", "klingon"), "EINVAL", "writeText");
      await refuses(filesystem.writeText("f", "x", "utf-16be"), "EINVAL", "writeText");
      await refuses(filesystem.writeText("f", "€", "latin1"), "EINVAL", "writeText");
      await refuses(filesystem.writeText("f", "a\uD83C", "utf-8"), "EINVAL", "half a character");
      await refuses(filesystem.writeText("f", 1 as never), "EINVAL", "no text");
      await refuses(filesystem.write("f", "x" as never), "EINVAL", "no bytes");
      same(await filesystem.exists("f"), false, "something was written");
    },
  },
];
