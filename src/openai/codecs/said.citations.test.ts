import { describe, expect, test } from "vitest";
import { citationsIn } from "./said.ts";

const url = "https://a.example/p";
const mark = `([a.example](${url}))`;

const urlAt = (start_index: unknown, end_index: unknown) => ({
  type: "url_citation",
  url,
  title: "A",
  start_index,
  end_index,
});

/** The span of one annotation of a part. */
const spanIn = (text: string, annotation: object, offset = 0) =>
  citationsIn({ type: "output_text", text, annotations: [annotation] }, offset)[0]?.span;

describe("an annotation", () => {
  test("of each known type becomes a citation", () => {
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
    expect(citationsIn({ type: "output_text", text: "abcdefgh", annotations }, 10)).toEqual([
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

  test("of an unknown type, or that is no object, is left out", () => {
    const annotations = [{ type: "moon_citation" }, {}, null, 7, "x", [urlAt(0, 1)]];
    expect(citationsIn({ text: "abc", annotations }, 0)).toEqual([]);
  });

  test("with nothing but a type has empty texts and no place", () => {
    const annotations = [
      { type: "url_citation" },
      { type: "file_citation" },
      { type: "container_file_citation", container_id: 1, file_id: null, filename: {} },
    ];
    expect(citationsIn({ text: "abc", annotations }, 0)).toEqual([
      { type: "url", span: null, url: "", title: "" },
      { type: "file", span: null, fileId: "", filename: "" },
      { type: "containerFile", span: null, containerId: "", fileId: "", filename: "" },
    ]);
  });

  test.each([null, undefined, "x", 7, {}])("is not looked for in %s", (annotations) => {
    expect(citationsIn({ text: "abc", annotations }, 0)).toEqual([]);
  });
});

describe("a place", () => {
  test.each([
    ["missing", undefined, undefined],
    ["half missing", 1, null],
    ["a text", "1", "2"],
    ["not finite", Number.NaN, 2],
    ["without end", 0, Number.POSITIVE_INFINITY],
    ["a fraction", 0.5, 2],
    ["negative", -1, 2],
    ["the wrong way round", 2, 1],
    ["beyond the text", 4, 9],
  ])("that is %s is none", (_, start, end) => {
    expect(spanIn("abc", urlAt(start, end))).toBeNull();
  });

  test("may be empty, at the start and at the very end", () => {
    expect(spanIn("abc", urlAt(0, 0))).toEqual([0, 0]);
    expect(spanIn("abc", urlAt(3, 3))).toEqual([3, 3]);
    expect(spanIn("", urlAt(0, 0))).toEqual([0, 0]);
  });

  test("that ends beyond the text ends with it", () => {
    expect(spanIn("abc", urlAt(1, 99))).toEqual([1, 3]);
  });

  test("is counted from the start of the whole text", () => {
    expect(spanIn("abc", urlAt(1, 2), 40)).toEqual([41, 42]);
  });

  test("of a text that is missing is only its start", () => {
    const annotations = [urlAt(0, 5), urlAt(1, 5)];
    const spans = citationsIn({ type: "output_text", annotations }, 3).map(({ span }) => span);
    expect(spans).toEqual([[3, 3], null]);
  });
});

describe("beyond the first character of two units", () => {
  const text = `Look 🌍🌎 there ${mark} and on.`;
  const start = text.indexOf(mark);
  const end = start + mark.length;

  test("a place in UTF-16 units is taken as it is", () => {
    expect(spanIn(text, urlAt(start, end))).toEqual([start, end]);
  });

  test("a place in code points is found by what it cuts out", () => {
    expect(spanIn(text, urlAt(start - 2, end - 2), 100)).toEqual([100 + start, 100 + end]);
  });

  test("a code point beyond the last one is the end of the text", () => {
    const short = `🌍${mark}`;
    expect(spanIn(short, urlAt(1, 500))).toEqual([2, short.length]);
  });

  test.each([
    ["a file of the sandbox", "sandbox:/mnt/data/a.csv", { filename: "a.csv" }],
    ["a numbered source", "【4:0†a.txt】", {}],
    ["a footnote", "[1]", {}],
    ["the address itself", url, { url }],
  ])("%s is known by its ends", (_, cited, more) => {
    const whole = `🌍 see ${cited}.`;
    const from = whole.indexOf(cited);
    const [start_index, end_index] = [from - 1, from - 1 + cited.length];
    const annotation = { type: "container_file_citation", start_index, end_index, ...more };
    expect(spanIn(whole, annotation)).toEqual([from, from + cited.length]);
  });

  test("where neither looks right, units are taken", () => {
    expect(spanIn("🌍 plain words", urlAt(3, 8))).toEqual([3, 8]);
    expect(spanIn("🌍🌎🌏 (a) b", urlAt(9, 99))).toEqual([9, 12]);
  });

  test("no character is cut in two", () => {
    expect(spanIn("a🌍b🌎c", urlAt(2, 5))).toEqual([1, 6]);
    const place = { type: "file_citation", file_id: "f", filename: "n", index: 2 };
    expect(spanIn("a🌍b", place)).toEqual([1, 1]);
    expect(spanIn("a🌍b", { ...place, index: 3 })).toEqual([3, 3]);
  });

  test("a place before it is the same in both", () => {
    expect(spanIn("abc 🌍", urlAt(1, 4))).toEqual([1, 4]);
  });

  test("half a character counts as one in both", () => {
    expect(spanIn("\ud83d abc", urlAt(2, 5))).toEqual([2, 5]);
  });

  test("many citations of a long text are quick to read", () => {
    const long = "🌍".repeat(200_000);
    const annotations = Array.from({ length: 20_000 }, (_, index) => urlAt(index, index + 1));
    const citations = citationsIn({ text: long, annotations }, 0);
    expect(citations).toHaveLength(20_000);
    expect(citations[3]?.span).toEqual([2, 4]);
  });
});
