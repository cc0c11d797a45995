import { describe, expect, test } from "vitest";
import { fillHeader, paxBlocks, type TarEntry } from "./tar-header.ts";

function entry(path: string, bytes = 0): TarEntry {
  return { path, type: path.endsWith("/") ? "directory" : "file", bytes, isExecutable: false };
}

function header(of: TarEntry): string {
  const block = new Uint8Array(512);
  fillHeader(block, of);
  return Buffer.from(block).toString("latin1");
}

describe("a header", () => {
  test("has the same time always, and no owner", () => {
    const text = header(entry("a.txt", 10));
    expect(text.slice(0, 6)).toBe("a.txt\0");
    expect(text.slice(100, 148)).toBe(
      "0000644\0" + "0000000\0" + "0000000\0" + "00000000012\0" + "02263773600\0",
    );
    expect(text.slice(156, 158)).toBe("0\0");
    expect(text.slice(257, 265)).toBe("ustar\0" + "00");
    expect(text.slice(265, 329)).toBe("\0".repeat(64));
  });

  test("says 755 of folders and of what may be executed, else 644", () => {
    expect(header(entry("a/")).slice(100, 107)).toBe("0000755");
    expect(header(entry("a/")).slice(156, 157)).toBe("5");
    expect(header({ ...entry("a"), isExecutable: true }).slice(100, 107)).toBe("0000755");
    expect(header(entry("a")).slice(100, 107)).toBe("0000644");
  });

  test("has a checksum that counts itself as spaces", () => {
    const text = header(entry("some/file", 1234));
    const blanked = `${text.slice(0, 148)}        ${text.slice(156)}`;
    const sum = [...blanked].reduce((total, letter) => total + letter.charCodeAt(0), 0);
    expect(text.slice(148, 156)).toBe(`${sum.toString(8).padStart(6, "0")}\0 `);
  });
});

describe("pax records", () => {
  const records = (of: TarEntry) => {
    const blocks = paxBlocks(of);
    expect((blocks?.length ?? 0) % 512).toBe(0);
    return blocks && Buffer.from(blocks.subarray(512)).toString("utf8").replace(/\0+$/, "");
  };

  test("are not needed for what fits", () => {
    expect(paxBlocks(entry("a".repeat(100), 8 ** 11 - 1))).toBeNull();
  });

  test("say names that are too long or not ASCII, and sizes beyond 8 GiB", () => {
    expect(records(entry("a".repeat(101)))).toBe(`111 path=${"a".repeat(101)}\n`);
    expect(records(entry("é"))).toBe("11 path=é\n");
    expect(records(entry("new\nline"))).toBe("17 path=new\nline\n");
    expect(records(entry("a", 8 ** 11))).toBe("19 size=8589934592\n");
    expect(records(entry("é", 8 ** 11))).toBe("11 path=é\n19 size=8589934592\n");
  });

  test.each([90, 91, 92, 93, 988, 989, 990, 991])(
    "count their own length, at every number of digits: %i",
    (length) => {
      const text = records(entry("é".repeat(length))) ?? "";
      expect(Number.parseInt(text, 10)).toBe(Buffer.byteLength(text));
    },
  );

  test("leave a plain name to readers that do not know them", () => {
    expect(header(entry("é/😀")).slice(0, 5)).toBe("_/__\0");
    expect(header(entry("x".repeat(300))).slice(0, 108)).toBe(`${"x".repeat(100)}0000644\0`);
    expect(header(entry("a", 8 ** 11)).slice(124, 136)).toBe("00000000000\0");
  });
});
