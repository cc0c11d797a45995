import { describe, expect, test } from "vitest";
import { parseCitations } from "./message-text.ts";

const url = "https://a.example/p";
const mark = `([a.example](${url}))`;

const createUrlAnnotation = (start_index: unknown, end_index: unknown) => ({
  type: "url_citation",
  url,
  title: "A",
  start_index,
  end_index,
});

/** Returns the span of a part's only annotation. */
const parseSpan = (text: string, annotation: object, offset = 0) =>
  parseCitations({ type: "output_text", text, annotations: [annotation] }, offset)[0]?.span;

describe("parseCitations()", () => {
  test("converts each known type of annotation", () => {
    const annotations = [
      { type: "url_citation", url, title: "A", start_index: 0, end_index: 3 },
      { type: "file_citation", file_id: "file-1", filename: "a.txt", index: 5 },
      { type: "file_path", file_id: "file-2", index: 2 },
      {
        type: "container_file_citation",
        container_id: "cntr_1",
        file_id: "cfile_1",
        filename: "plot.png",
        start_index: 1,
        end_index: 4,
      },
    ];
    expect(parseCitations({ type: "output_text", text: "abcdefgh", annotations }, 10)).toEqual([
      { type: "url", span: [10, 13], url, title: "A" },
      { type: "file", span: [15, 15], fileId: "file-1", filename: "a.txt" },
      { type: "file", span: [12, 12], fileId: "file-2", filename: "" },
      {
        type: "containerFile",
        span: [11, 14],
        containerId: "cntr_1",
        fileId: "cfile_1",
        filename: "plot.png",
      },
    ]);
  });

  test("ignores unknown types and values that are not objects", () => {
    const annotations = [{ type: "moon_citation" }, {}, null, 7, "x", [createUrlAnnotation(0, 1)]];
    expect(parseCitations({ text: "abc", annotations }, 0)).toEqual([]);
  });

  test("converts an annotation with only a type, with empty texts and no span", () => {
    const annotations = [
      { type: "url_citation" },
      { type: "file_citation" },
      { type: "container_file_citation", container_id: 1, file_id: null, filename: {} },
    ];
    expect(parseCitations({ text: "abc", annotations }, 0)).toEqual([
      { type: "url", span: null, url: "", title: "" },
      { type: "file", span: null, fileId: "", filename: "" },
      { type: "containerFile", span: null, containerId: "", fileId: "", filename: "" },
    ]);
  });

  test.each([null, undefined, "x", 7, {}])(
    "returns no citations for the annotations %s",
    (annotations) => {
      expect(parseCitations({ text: "abc", annotations }, 0)).toEqual([]);
    },
  );
});

describe("a citation's span", () => {
  test.each([
    ["missing", undefined, undefined],
    ["half missing", 1, null],
    ["a string", "1", "2"],
    ["not finite", Number.NaN, 2],
    ["infinite", 0, Number.POSITIVE_INFINITY],
    ["a fraction", 0.5, 2],
    ["negative", -1, 2],
    ["reversed", 2, 1],
    ["beyond the text", 4, 9],
  ])("is null if the index is %s", (_, start, end) => {
    expect(parseSpan("abc", createUrlAnnotation(start, end))).toBeNull();
  });

  test("can be empty, at the start and at the end of the text", () => {
    expect(parseSpan("abc", createUrlAnnotation(0, 0))).toEqual([0, 0]);
    expect(parseSpan("abc", createUrlAnnotation(3, 3))).toEqual([3, 3]);
    expect(parseSpan("", createUrlAnnotation(0, 0))).toEqual([0, 0]);
  });

  test("is clipped to the text's length", () => {
    expect(parseSpan("abc", createUrlAnnotation(1, 99))).toEqual([1, 3]);
  });

  test("is relative to the start of the whole text", () => {
    expect(parseSpan("abc", createUrlAnnotation(1, 2), 40)).toEqual([41, 42]);
  });

  test("is empty at the start of a missing text", () => {
    const annotations = [createUrlAnnotation(0, 5), createUrlAnnotation(1, 5)];
    const spans = parseCitations({ type: "output_text", annotations }, 3).map(({ span }) => span);
    expect(spans).toEqual([[3, 3], null]);
  });
});

describe("a citation's span after a surrogate pair", () => {
  const text = `Look 🌍🌎 there ${mark} and on.`;
  const start = text.indexOf(mark);
  const end = start + mark.length;

  test("is used unchanged if it counts UTF-16 units", () => {
    expect(parseSpan(text, createUrlAnnotation(start, end))).toEqual([start, end]);
  });

  test("is converted from code points if that looks like a citation", () => {
    expect(parseSpan(text, createUrlAnnotation(start - 2, end - 2), 100)).toEqual([
      100 + start,
      100 + end,
    ]);
  });

  test("is clipped to the text's length in code points", () => {
    const short = `🌍${mark}`;
    expect(parseSpan(short, createUrlAnnotation(1, 500))).toEqual([2, short.length]);
  });

  test.each([
    ["a sandbox file", "sandbox:/mnt/data/a.csv", { filename: "a.csv" }],
    ["a numbered source", "【4:0†a.txt】", {}],
    ["a footnote", "[1]", {}],
    ["the URL itself", url, { url }],
  ])("recognizes %s by its start and end", (_, cited, more) => {
    const whole = `🌍 see ${cited}.`;
    const from = whole.indexOf(cited);
    const [start_index, end_index] = [from - 1, from - 1 + cited.length];
    const annotation = { type: "container_file_citation", start_index, end_index, ...more };
    expect(parseSpan(whole, annotation)).toEqual([from, from + cited.length]);
  });

  test("counts UTF-16 units if neither looks like a citation", () => {
    expect(parseSpan("🌍 plain words", createUrlAnnotation(3, 8))).toEqual([3, 8]);
    expect(parseSpan("🌍🌎🌏 (a) b", createUrlAnnotation(9, 99))).toEqual([9, 12]);
  });

  test("never splits a character", () => {
    expect(parseSpan("a🌍b🌎c", createUrlAnnotation(2, 5))).toEqual([1, 6]);
    const place = { type: "file_citation", file_id: "f", filename: "n", index: 2 };
    expect(parseSpan("a🌍b", place)).toEqual([1, 1]);
    expect(parseSpan("a🌍b", { ...place, index: 3 })).toEqual([3, 3]);
  });

  test("is the same in both counts before the pair", () => {
    expect(parseSpan("abc 🌍", createUrlAnnotation(1, 4))).toEqual([1, 4]);
  });

  test("counts a lone surrogate as one character", () => {
    expect(parseSpan("\ud83d abc", createUrlAnnotation(2, 5))).toEqual([2, 5]);
  });

  test("is fast for many citations in a long text", () => {
    const long = "🌍".repeat(200_000);
    const annotations = Array.from({ length: 20_000 }, (_, index) =>
      createUrlAnnotation(index, index + 1),
    );
    const citations = parseCitations({ text: long, annotations }, 0);
    expect(citations).toHaveLength(20_000);
    expect(citations[3]?.span).toEqual([2, 4]);
  });
});
