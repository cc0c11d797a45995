import { describe, expect, test } from "vitest";
import { createPaxBlocks, fillTarHeader, type TarEntry } from "./tar-header.ts";

function createEntry(path: string, bytes = 0): TarEntry {
  const isFolder = path.endsWith("/");
  return { path, type: isFolder ? "directory" : "file", bytes, mode: isFolder ? 0o755 : 0o644 };
}

function createHeader(of: TarEntry): string {
  const block = new Uint8Array(512);
  fillTarHeader(block, of);
  return Buffer.from(block).toString("latin1");
}

describe("fillTarHeader()", () => {
  test("writes a fixed time and root as the owner", () => {
    const text = createHeader(createEntry("a.txt", 10));
    expect(text.slice(0, 6)).toBe("a.txt\0");
    expect(text.slice(100, 148)).toBe(
      "0000644\0" + "0000000\0" + "0000000\0" + "00000000012\0" + "02263773600\0",
    );
    expect(text.slice(156, 158)).toBe("0\0");
    expect(text.slice(257, 265)).toBe("ustar\0" + "00");
    expect(text.slice(265, 329)).toBe("\0".repeat(64));
  });

  test("writes mode 755 for folders and executables, and 644 for other files", () => {
    expect(createHeader(createEntry("a/")).slice(100, 107)).toBe("0000755");
    expect(createHeader(createEntry("a/")).slice(156, 157)).toBe("5");
    expect(createHeader({ ...createEntry("a"), mode: 0o755 }).slice(100, 107)).toBe("0000755");
    expect(createHeader(createEntry("a")).slice(100, 107)).toBe("0000644");
  });

  test("writes a checksum that counts itself as spaces", () => {
    const text = createHeader(createEntry("some/file", 1234));
    const blanked = `${text.slice(0, 148)}        ${text.slice(156)}`;
    const sum = [...blanked].reduce((total, letter) => total + letter.charCodeAt(0), 0);
    expect(text.slice(148, 156)).toBe(`${sum.toString(8).padStart(6, "0")}\0 `);
  });
});

describe("createPaxBlocks()", () => {
  const readRecords = (of: TarEntry) => {
    const blocks = createPaxBlocks(of);
    expect((blocks?.length ?? 0) % 512).toBe(0);
    return blocks && Buffer.from(blocks.subarray(512)).toString("utf8").replace(/\0+$/, "");
  };

  test("returns null if the entry fits a ustar header", () => {
    expect(createPaxBlocks(createEntry("a".repeat(100), 8 ** 11 - 1))).toBeNull();
  });

  test("writes names that are too long or not ASCII, and sizes beyond 8 GiB", () => {
    expect(readRecords(createEntry("a".repeat(101)))).toBe(`111 path=${"a".repeat(101)}\n`);
    expect(readRecords(createEntry("é"))).toBe("11 path=é\n");
    expect(readRecords(createEntry("new\nline"))).toBe("17 path=new\nline\n");
    expect(readRecords(createEntry("a", 8 ** 11))).toBe("19 size=8589934592\n");
    expect(readRecords(createEntry("é", 8 ** 11))).toBe("11 path=é\n19 size=8589934592\n");
  });

  test.each([90, 91, 92, 93, 988, 989, 990, 991])(
    "includes the digits of the length in the length: %i",
    (length) => {
      const text = readRecords(createEntry("é".repeat(length))) ?? "";
      expect(Number.parseInt(text, 10)).toBe(Buffer.byteLength(text));
    },
  );

  test("leaves a plain ASCII name for readers that do not support pax", () => {
    expect(createHeader(createEntry("é/😀")).slice(0, 5)).toBe("_/__\0");
    expect(createHeader(createEntry("x".repeat(300))).slice(0, 108)).toBe(
      `${"x".repeat(100)}0000644\0`,
    );
    expect(createHeader(createEntry("a", 8 ** 11)).slice(124, 136)).toBe("00000000000\0");
  });
});
