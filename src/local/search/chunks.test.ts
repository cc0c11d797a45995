import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tokensIn } from "../tokens.ts";
import { type ChunkSizes, chunks } from "./chunks.ts";

const cut = (text: string, sizes?: ChunkSizes) => [...chunks(text, sizes)];

describe("a text is cut into pieces", () => {
  test("of which there is one if it is short, and none if it is blank", () => {
    expect(cut("Owls hoot.")).toEqual([{ start: 0, text: "Owls hoot." }]);
    expect(cut("")).toEqual([]);
    expect(cut(" \n\t ".repeat(2000))).toEqual([]);
  });

  test("that end with a line where one ends, and overlap by whole lines", () => {
    const line = `${"word ".repeat(9)}end.\n`;
    const pieces = cut(line.repeat(40), { maxTokens: 100, overlapTokens: 50 });
    expect(pieces.length).toBeGreaterThan(5);
    for (const { text } of pieces) {
      expect(text.startsWith("word")).toBe(true);
      expect(text.endsWith("end.\n")).toBe(true);
    }
    expect(pieces[1]?.start).toBeLessThan(pieces[0]?.text.length ?? 0);
  });

  test("that end between words where there are no lines", () => {
    for (const { text } of cut("owls ".repeat(1000), { maxTokens: 100, overlapTokens: 30 })) {
      expect(text).toMatch(/^(owls ?)+$/);
    }
  });

  test("that end anywhere where there are no words, but never within a character", () => {
    const pieces = cut("🦉".repeat(1000), { maxTokens: 100, overlapTokens: 50 });
    expect(pieces.length).toBeGreaterThan(15);
    for (const { text } of pieces) expect(text).toMatch(/^🦉+$/u);
  });

  test("however small these are to be", () => {
    const pieces = cut("aa🦉 aa🦉", { maxTokens: 1, overlapTokens: 1 });
    expect(new Set(pieces.map(({ text }) => text))).toEqual(new Set(["aa", "🦉", " aa", "🦉"]));
  });

  test("in linear time", () => {
    const text = "x".repeat(4_000_000);
    expect(cut(text, { maxTokens: 100, overlapTokens: 50 }).length).toBe(20_000 - 1);
  });

  test("none of which is too long, and which have every character between them", () => {
    const sizes = fc.record({
      maxTokens: fc.integer({ min: 8, max: 60 }),
      overlapTokens: fc.integer({ min: 0, max: 60 }),
    });
    const words = fc.string({ unit: fc.constantFrom("a", "é", "鳥", "🦉", " ", "\n", "\ud800") });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), sizes, (parts, given) => {
        const text = parts.join("");
        let end = 0;
        for (const { start, text: piece } of chunks(text, given)) {
          expect(text.startsWith(piece, start)).toBe(true);
          expect(text.slice(end, start).trim()).toBe("");
          expect(tokensIn(piece)).toBeLessThanOrEqual(given.maxTokens);
          expect(start + piece.length).toBeGreaterThan(end);
          end = start + piece.length;
        }
        expect(text.slice(end).trim()).toBe("");
      }),
    );
  });
});
