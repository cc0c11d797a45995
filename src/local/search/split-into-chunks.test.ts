import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countTokens } from "../count-tokens.ts";
import { type ChunkSizes, splitIntoChunks } from "./split-into-chunks.ts";

const splitText = (text: string, sizes?: ChunkSizes) => [...splitIntoChunks(text, sizes)];

describe("splitIntoChunks()", () => {
  test("returns one chunk for a short text and none for a blank one", () => {
    expect(splitText("Owls hoot.")).toEqual([{ start: 0, text: "Owls hoot." }]);
    expect(splitText("")).toEqual([]);
    expect(splitText(" \n\t ".repeat(2000))).toEqual([]);
  });

  test("ends chunks at line ends, and overlaps by whole lines", () => {
    const line = `${"word ".repeat(9)}end.\n`;
    const pieces = splitText(line.repeat(40), { maxTokens: 100, overlapTokens: 50 });
    expect(pieces.length).toBeGreaterThan(5);
    for (const { text } of pieces) {
      expect(text.startsWith("word")).toBe(true);
      expect(text.endsWith("end.\n")).toBe(true);
    }
    expect(pieces[1]?.start).toBeLessThan(pieces[0]?.text.length ?? 0);
  });

  test("ends chunks between words in text without line ends", () => {
    for (const { text } of splitText("owls ".repeat(1000), { maxTokens: 100, overlapTokens: 30 })) {
      expect(text).toMatch(/^(owls ?)+$/);
    }
  });

  test("ends chunks anywhere in text without words, but never inside a character", () => {
    const pieces = splitText("🦉".repeat(1000), { maxTokens: 100, overlapTokens: 50 });
    expect(pieces.length).toBeGreaterThan(15);
    for (const { text } of pieces) expect(text).toMatch(/^🦉+$/u);
  });

  test("accepts chunk sizes of a few bytes", () => {
    const pieces = splitText("aa🦉 aa🦉", { maxTokens: 1, overlapTokens: 1 });
    expect(new Set(pieces.map(({ text }) => text))).toEqual(new Set(["aa", "🦉", " aa", "🦉"]));
  });

  test("takes linear time", () => {
    const text = "x".repeat(4_000_000);
    expect(splitText(text, { maxTokens: 100, overlapTokens: 50 }).length).toBe(20_000 - 1);
  });

  test("keeps chunks within the limit, and covers every character", () => {
    const sizes = fc.record({
      maxTokens: fc.integer({ min: 8, max: 60 }),
      overlapTokens: fc.integer({ min: 0, max: 60 }),
    });
    const words = fc.string({ unit: fc.constantFrom("a", "é", "鳥", "🦉", " ", "\n", "\ud800") });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), sizes, (parts, given) => {
        const text = parts.join("");
        let end = 0;
        for (const { start, text: piece } of splitIntoChunks(text, given)) {
          expect(text.startsWith(piece, start)).toBe(true);
          expect(text.slice(end, start).trim()).toBe("");
          expect(countTokens(piece)).toBeLessThanOrEqual(given.maxTokens);
          expect(start + piece.length).toBeGreaterThan(end);
          end = start + piece.length;
        }
        expect(text.slice(end).trim()).toBe("");
      }),
    );
  });
});
