import { Buffer } from "node:buffer";
import { mkdtemp, open, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseLine, RecordLines, toLine } from "./record-lines.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-lines-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function readLines(content: string | Buffer) {
  const path = join(folder, "file");
  await writeFile(path, content);
  const file = await open(path, "r");
  try {
    const lines = new RecordLines(file, Infinity);
    const texts: string[] = [];
    for await (const line of lines) texts.push(line.toString("utf8"));
    return { texts, count: lines.count, end: lines.end, size: lines.size };
  } finally {
    await file.close();
  }
}

describe("RecordLines", () => {
  test.each([
    ["", [], 0],
    ["a", [], 0],
    ["\n", [""], 1],
    ["a\n", ["a"], 2],
    ["a\nb", ["a"], 2],
    ["a\n\nö\n", ["a", "", "ö"], 6],
    ["a\u2028b\r\n", ["a\u2028b\r"], 7],
  ])("of %j yields the lines that end in a line break", async (content, texts, end) => {
    const size = Buffer.byteLength(content);
    expect(await readLines(content)).toEqual({ texts, count: texts.length, end, size });
  });

  test("reads lines longer than one chunk and lines that end with a chunk", async () => {
    for (const length of [65_535, 65_536, 65_537, 200_000]) {
      const content = `${"x".repeat(length)}\ny\n${"z".repeat(length)}`;
      const { texts, end, size } = await readLines(content);
      expect(texts.map((text) => text.length)).toEqual([length, 1]);
      expect([end, size]).toEqual([length + 3, 2 * length + 3]);
    }
  });
});

describe("toLine() and parseLine()", () => {
  test("round-trip any JSON record", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (record) => {
        const made = toLine(record);
        const line = typeof made === "string" ? Buffer.of() : made.line;
        expect(line.indexOf("\n")).toBe(line.length - 1);
        const back = parseLine(line.subarray(0, -1));
        expect(JSON.stringify(back)).toBe(JSON.stringify({ record }));
      }),
    );
  });

  const cycle: { self?: object } = {};
  cycle.self = cycle;
  test.each<readonly [string, unknown, string]>([
    ["a cycle", cycle, "circular"],
    ["a bigint", { n: 1n }, "BigInt"],
    ["an array", [1], "it is [1]"],
    ["a string", "text", 'it is "text"'],
    ["undefined", undefined, "it is undefined"],
    ["an object that serializes as a number", { toJSON: () => 5 }, "it is"],
  ])("reject %s", (_what, record, problem) => {
    expect(toLine(record as object)).toContain(problem);
  });

  test.each([
    ["", "Unexpected end"],
    ["{", "Expected property name"],
    ['{"a":1}}', "Unexpected non-whitespace"],
    ["5", "it is 5"],
    ["[]", "it is []"],
    ["null", "it is null"],
    ["\ufeff{}", "Unexpected token"],
  ])("reject the line %j", (line, problem) => {
    expect(parseLine(Buffer.from(line))).toContain(problem);
  });

  test("reject a line that is not UTF-8", () => {
    expect(parseLine(Buffer.of(0x7b, 0xff, 0x7d))).toBe("it is not UTF-8");
  });
});

test("RecordLines reads at most the given number of bytes", async () => {
  const path = join(folder, "file");
  await writeFile(path, "a\nb\nc\n");
  await using file = await open(path, "r");
  const lines = new RecordLines(file, 4);
  const texts: string[] = [];
  for await (const line of lines) texts.push(line.toString("utf8"));
  expect([texts, lines.size, lines.end]).toEqual([["a", "b"], 4, 4]);
});

test("skipAll() of RecordLines counts lines that span several chunks", async () => {
  const path = join(folder, "file");
  await writeFile(path, `${"a".repeat(200_000)}\nb\nc`);
  await using file = await open(path, "r");
  const lines = new RecordLines(file, Infinity);
  await lines.skipAll();
  expect([lines.count, lines.end, lines.size]).toEqual([2, 200_003, 200_004]);
});

test("RecordLines rejects a line of more than 128 MiB, also if it is skipped", async () => {
  const path = join(folder, "file");
  await writeFile(path, "a\n");
  await truncate(path, 130 * 1024 ** 2);
  await using file = await open(path, "r");
  const message = "line 2 is longer than 134,217,728 bytes";
  await expect(new RecordLines(file, Infinity).skipAll()).rejects.toThrow(message);
});
