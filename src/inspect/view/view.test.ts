import { describe, expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
  formatShort,
  formatTime,
  formatUsd,
  shortenId,
} from "./format.ts";
import { outlinePrompt } from "./outline-prompt.ts";
import { formatLocation, parseLocation } from "./page-location.ts";
import { splitCitations } from "./split-citations.ts";

describe("the formats of the inspector", () => {
  test.each([
    [3, "3 ms"],
    [2_100, "2.1 s"],
    [192_000, "3 min 12 s"],
    [7_500_000, "2 h 5 min"],
  ])("formats %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("formats counts, sizes, money, times and ids", () => {
    expect([
      formatCount(12_345),
      formatShort(940),
      formatShort(18_502),
      formatShort(150_000),
      formatShort(1_200_000),
    ]).toEqual(["12,345", "940", "18.5k", "150k", "1.2M"]);
    expect([formatBytes(12), formatBytes(3_400), formatBytes(1_200_000)]).toEqual([
      "12 B",
      "3.4 kB",
      "1.2 MB",
    ]);
    expect([formatUsd(0.0123), formatUsd(2)]).toEqual(["$0.0123", "$2.00"]);
    expect([formatPlural(1, "call"), formatPlural(2, "call")]).toEqual(["1 call", "2 calls"]);
    expect(formatTime(Number.NaN)).toBe("");
    expect(formatTime(0)).toContain("19");
    expect(shortenId("cntr_7c9932158f51a4edcb5b → cntr_1")).toBe("cntr_7c9932… → cntr_1");
  });
});

describe("splitCitations()", () => {
  test("splits a text at valid spans, and ignores all others", () => {
    const spans = [[4, 7], [0, 3], [5, 9], [-1, 2], [8, 8], [9, 99], ["0", "1"], null, [1.5, 2]];
    expect(
      splitCitations(
        "one two six",
        spans.map((span) => ({ span })),
      ),
    ).toEqual([
      { text: "one", citation: 1 },
      { text: " ", citation: null },
      { text: "two", citation: 0 },
      { text: " six", citation: null },
    ]);
    expect(splitCitations("", [])).toEqual([]);
  });
});

describe("outlinePrompt()", () => {
  test("reads sections from headings, and not from code", () => {
    const text =
      "Hello.\n\n# 1. Task\nDo it.\n## 1.1. Limits\n```sh\n# not a heading\n```\n# 2. Log\n~~~\n# neither";
    expect(outlinePrompt(text)).toEqual({
      ...{ title: "", text: "Hello." },
      children: [
        {
          title: "1. Task",
          text: "Do it.",
          children: [{ title: "1.1. Limits", text: "```sh\n# not a heading\n```", children: [] }],
        },
        { title: "2. Log", text: "~~~\n# neither", children: [] },
      ],
    });
  });
});

test("outlinePrompt() reads no heading from code that shows other code", () => {
  const text = "~~~md\n```\n# not a heading\n```\n# neither\n~~~\n# Task";
  expect(outlinePrompt(text).children.map(({ title }) => title)).toEqual(["Task"]);
});

describe("the location of the inspector", () => {
  test("survives a round trip, with any id and text", () => {
    const location = {
      session: "a&b=c #1",
      at: "1.3.2",
      query: "50 % & more",
      kinds: ["turn", "call"],
      onlyFailed: true,
    } as const;
    expect(parseLocation(formatLocation(location))).toEqual(location);
    const empty = { session: null, at: null, query: "", kinds: [], onlyFailed: false };
    expect(parseLocation(formatLocation(empty))).toEqual(empty);
  });

  test("ignores unknown kinds and fields", () => {
    expect(parseLocation("#kinds=turn,secret&failed=yes&x=1")).toMatchObject({
      kinds: ["turn"],
      onlyFailed: false,
    });
  });
});
