import { expect, test } from "vitest";
import { LineSearch } from "./line-search.ts";

/** Searches a text in chunks of some bytes. */
function searchChunks(text: string | Uint8Array, size: number, pattern = "owl", most = 10) {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  const { matches, longLines } = new LineSearch(new RegExp(pattern)).search("f", chunks, most);
  return { lines: matches.map(({ line, text }) => `${line} ${text}`), longLines };
}

test.each([1, 2, 3, 7, 1000])("LineSearch finds lines across chunks of %d bytes", (size) => {
  const text = "an owl\r\nnö öwl\n\nowl ö\nowl";
  expect(searchChunks(text, size)).toEqual({
    lines: ["1 an owl", "4 owl ö", "5 owl"],
    longLines: 0,
  });
  expect(searchChunks(text, size, "owl", 1).lines).toEqual(["1 an owl"]);
});

test("LineSearch has no matches in a file with a NUL or bytes that are not UTF-8", () => {
  for (const end of [[0], [0xff, 10], [0xff]]) {
    const bytes = Buffer.concat([Buffer.from("owl\n"), Buffer.from(end)]);
    expect(searchChunks(bytes, 4)).toEqual({ lines: [], longLines: 0 });
  }
});

test("LineSearch skips and counts lines that are too long, also without keeping them in memory", () => {
  const long = "é".repeat(300_001);
  const text = `owl\n${long} owl\nowl\n${"x".repeat(100_001)}\n${long}`;
  expect(searchChunks(text, 65_537)).toEqual({ lines: ["1 owl", "3 owl"], longLines: 3 });
});

test("LineSearch cuts the text of a match after 2,000 characters", () => {
  const [line = ""] = searchChunks(`owl${"x".repeat(5_000)}`, 10_000).lines;
  expect(line).toMatch(/^1 owlx+…$/);
  expect(line).toHaveLength("1 ".length + 2_001);
});
