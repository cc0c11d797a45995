import { describe, expect, test } from "vitest";
import { type CraftedEntry, createTarEntry } from "../../../../tests/support/crafted-tar.ts";
import { decodeTarText, isEmptyBlock, parseTarBlock, trimAtNul } from "./tar-block.ts";

const parseEntry = (entry: CraftedEntry) => parseTarBlock(createTarEntry(entry).subarray(0, 512));
const readName = (entry: CraftedEntry) =>
  decodeTarText(parseEntry(entry)?.name ?? Buffer.from("none"));

describe("parseTarBlock()", () => {
  test("reads the type, size, mode and name", () => {
    expect(parseEntry({ name: "é", type: "5", size: 8 ** 11 - 1, mode: "0000755\0" })).toEqual({
      type: "5",
      bytes: 8 ** 11 - 1,
      mode: 0o755,
      name: Buffer.from("é"),
    });
  });

  test("rejects a wrong or missing checksum and a short block", () => {
    expect(parseEntry({ checksum: "0000000\0" })).toBeNull();
    expect(parseEntry({ checksum: "\0".repeat(8) })).toBeNull();
    expect(parseTarBlock(createTarEntry({}).subarray(0, 511))).toBeNull();
    const block = createTarEntry({});
    block[100] = 0x37;
    expect(parseTarBlock(block)).toBeNull();
  });

  test.each(["", "9", "-1", "0x10", "1 2", "1\u00002", "1.5", "\xff\xff\xff\xff"])(
    "rejects the size %j",
    (size) => {
      expect(parseEntry({ size: Buffer.from(size.padEnd(12, "\0"), "latin1") })).toBeNull();
    },
  );

  test.each([
    ["  644 \0", 0o644],
    ["0000644\0", 0o644],
    ["00000644", 0o644],
    ["7\0\0\0\0\0\0\0", 7],
    ["\0\0\0\0\0\0\0\0", undefined],
  ])("parses an octal mode: %j", (mode, expected) => {
    expect(parseEntry({ mode })?.mode).toBe(expected);
  });

  test("parses a binary size up to the largest safe integer", () => {
    const parseSize = (hex: string) =>
      parseEntry({ size: Buffer.from(hex.padStart(24, "0"), "hex") })?.bytes;
    expect(parseSize("800000000000000200000000")).toBe(2 ** 33);
    expect(parseSize("80000000001fffffffffffff")).toBe(Number.MAX_SAFE_INTEGER);
    expect(parseSize("800000000020000000000000")).toBeUndefined();
    expect(parseSize("ffffffffffffffffffffffff")).toBeUndefined();
  });
});

describe("the name in a tar block", () => {
  test("includes the prefix field only in the POSIX format", () => {
    expect(readName({ name: "b", prefix: "a" })).toBe("a/b");
    expect(readName({ name: "b" })).toBe("b");
    expect(readName({ name: "b", prefix: "12345678901", magic: "ustar  \0" })).toBe("b");
    expect(readName({ name: "b", prefix: "a", magic: "" })).toBe("b");
  });

  test("may fill its whole field, and ends at a NUL", () => {
    const long = "x".repeat(100);
    expect(readName({ name: long, prefix: "y".repeat(155) })).toBe(`${"y".repeat(155)}/${long}`);
    expect(readName({ name: "a\0b" })).toBe("a");
  });

  test("is decoded as UTF-8 with its byte order mark, or as null", () => {
    expect(readName({ name: "\ufeffa" })).toBe("\ufeffa");
    expect(readName({ name: Buffer.from([0x61, 0xff]) })).toBeNull();
  });
});

test("isEmptyBlock() accepts only zeros", () => {
  const block = new Uint8Array(512);
  expect(isEmptyBlock(block)).toBe(true);
  block[511] = 1;
  expect(isEmptyBlock(block)).toBe(false);
});

test("trimAtNul() returns all bytes without a NUL", () => {
  expect(trimAtNul(Buffer.from("abc")).length).toBe(3);
  expect(trimAtNul(Buffer.from("ab\0c")).length).toBe(2);
});
