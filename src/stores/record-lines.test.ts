import { Buffer } from "node:buffer";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineOf, RecordLines, recordOf } from "./record-lines.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-lines-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function linesOf(content: string | Buffer) {
  const path = join(folder, "file");
  await writeFile(path, content);
  const file = await open(path, "r");
  try {
    const lines = new RecordLines(file);
    const texts: string[] = [];
    for await (const line of lines) texts.push(line.toString("utf8"));
    return { texts, count: lines.count, end: lines.end, size: lines.size };
  } finally {
    await file.close();
  }
}

describe("the lines of a file", () => {
  test.each([
    ["", [], 0],
    ["a", [], 0],
    ["\n", [""], 1],
    ["a\n", ["a"], 2],
    ["a\nb", ["a"], 2],
    ["a\n\nö\n", ["a", "", "ö"], 6],
    ["a\u2028b\r\n", ["a\u2028b\r"], 7],
  ])("of %j are those that end in a break", async (content, texts, end) => {
    const size = Buffer.byteLength(content);
    expect(await linesOf(content)).toEqual({ texts, count: texts.length, end, size });
  });

  test("may be longer than what is read at once, and end where that ends", async () => {
    for (const length of [65_535, 65_536, 65_537, 200_000]) {
      const content = `${"x".repeat(length)}\ny\n${"z".repeat(length)}`;
      const { texts, end, size } = await linesOf(content);
      expect(texts.map((text) => text.length)).toEqual([length, 1]);
      expect([end, size]).toEqual([length + 3, 2 * length + 3]);
    }
  });
});

describe("a record", () => {
  test("of any JSON comes back from its line as it went in", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (record) => {
        const made = lineOf(record);
        const line = typeof made === "string" ? Buffer.of() : made.line;
        expect(line.indexOf("\n")).toBe(line.length - 1);
        const back = recordOf(line.subarray(0, -1));
        expect(JSON.stringify(back)).toBe(JSON.stringify({ record }));
      }),
    );
  });

  const cycle: { self?: object } = {};
  cycle.self = cycle;
  test.each<readonly [string, unknown, string]>([
    ["a cycle", cycle, "circular"],
    ["a bigint", { n: 1n }, "BigInt"],
    ["a list", [1], "it is [1]"],
    ["text", "text", 'it is "text"'],
    ["nothing", undefined, "it is undefined"],
    ["what turns into something else", { toJSON: () => 5 }, "it is"],
  ])("cannot be %s", (_what, record, problem) => {
    expect(lineOf(record as object)).toContain(problem);
  });

  test.each([
    ["", "Unexpected end"],
    ["{", "Expected property name"],
    ['{"a":1}}', "Unexpected non-whitespace"],
    ["5", "it is 5"],
    ["[]", "it is []"],
    ["null", "it is null"],
    ["\ufeff{}", "Unexpected token"],
  ])("is not in the line %j", (line, problem) => {
    expect(recordOf(Buffer.from(line))).toContain(problem);
  });

  test("is not in a line that is no UTF-8", () => {
    expect(recordOf(Buffer.of(0x7b, 0xff, 0x7d))).toBe("it is not UTF-8");
  });
});
