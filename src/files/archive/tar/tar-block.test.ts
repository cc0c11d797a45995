import { describe, expect, test } from "vitest";
import { type CraftedEntry, craftedEntry } from "../../../../tests/support/crafted-tar.ts";
import { isEmptyBlock, readBlock, tarText, untilNul } from "./tar-block.ts";

const read = (entry: CraftedEntry) => readBlock(craftedEntry(entry).subarray(0, 512));
const nameOf = (entry: CraftedEntry) => tarText(read(entry)?.name ?? Buffer.from("none"));

describe("a header", () => {
  test("says what it is, how long and for whom", () => {
    expect(read({ name: "é", type: "5", size: 8 ** 11 - 1, mode: "0000755\0" })).toEqual({
      type: "5",
      bytes: 8 ** 11 - 1,
      mode: 0o755,
      name: Buffer.from("é"),
    });
  });

  test("is none if its checksum is wrong or missing, or it is not a block", () => {
    expect(read({ checksum: "0000000\0" })).toBeNull();
    expect(read({ checksum: "\0".repeat(8) })).toBeNull();
    expect(readBlock(craftedEntry({}).subarray(0, 511))).toBeNull();
    const block = craftedEntry({});
    block[100] = 0x37;
    expect(readBlock(block)).toBeNull();
  });

  test.each(["", "9", "-1", "0x10", "1 2", "1\u00002", "1.5", "\xff\xff\xff\xff"])(
    "is none if its size is %j",
    (size) => {
      expect(read({ size: Buffer.from(size.padEnd(12, "\0"), "latin1") })).toBeNull();
    },
  );

  test.each([
    ["  644 \0", 0o644],
    ["0000644\0", 0o644],
    ["00000644", 0o644],
    ["7\0\0\0\0\0\0\0", 7],
    ["\0\0\0\0\0\0\0\0", undefined],
  ])("has a mode if that is octal: %j", (mode, expected) => {
    expect(read({ mode })?.mode).toBe(expected);
  });

  test("may say a large size in bytes, if it can be counted to", () => {
    const sizeOf = (hex: string) =>
      read({ size: Buffer.from(hex.padStart(24, "0"), "hex") })?.bytes;
    expect(sizeOf("800000000000000200000000")).toBe(2 ** 33);
    expect(sizeOf("80000000001fffffffffffff")).toBe(Number.MAX_SAFE_INTEGER);
    expect(sizeOf("800000000020000000000000")).toBeUndefined();
    expect(sizeOf("ffffffffffffffffffffffff")).toBeUndefined();
  });
});

describe("a name", () => {
  test("has a first part of its own only in the format of POSIX", () => {
    expect(nameOf({ name: "b", prefix: "a" })).toBe("a/b");
    expect(nameOf({ name: "b" })).toBe("b");
    expect(nameOf({ name: "b", prefix: "12345678901", magic: "ustar  \0" })).toBe("b");
    expect(nameOf({ name: "b", prefix: "a", magic: "" })).toBe("b");
  });

  test("may fill its field, and ends at a NUL", () => {
    const long = "x".repeat(100);
    expect(nameOf({ name: long, prefix: "y".repeat(155) })).toBe(`${"y".repeat(155)}/${long}`);
    expect(nameOf({ name: "a\0b" })).toBe("a");
  });

  test("is UTF-8, of which nothing is lost", () => {
    expect(nameOf({ name: "\ufeffa" })).toBe("\ufeffa");
    expect(nameOf({ name: Buffer.from([0x61, 0xff]) })).toBeNull();
  });
});

test("an empty block is all zeros", () => {
  const block = new Uint8Array(512);
  expect(isEmptyBlock(block)).toBe(true);
  block[511] = 1;
  expect(isEmptyBlock(block)).toBe(false);
});

test("what has no NUL ends where it ends", () => {
  expect(untilNul(Buffer.from("abc")).length).toBe(3);
  expect(untilNul(Buffer.from("ab\0c")).length).toBe(2);
});
