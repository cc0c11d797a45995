import { describe, expect, test } from "vitest";
import { cleanText, cutText } from "./clean-text.ts";

describe("cleanText()", () => {
  test("removes control characters, invisible characters and lone surrogates", () => {
    const hidden = "a\u0000b\u001B[31mc\u0085d\u200Be\u202Ef\u2066g\uFEFFh\u{E0041}i\uD800";
    expect(cleanText(hidden)).toBe("ab[31mcdefghi\uFFFD");
  });

  test("keeps tabs, line breaks and text of any language, and unifies line breaks", () => {
    expect(cleanText("a\tb\r\nc\rd\ne ü 猫 🌱")).toBe("a\tb\nc\nd\ne ü 猫 🌱");
  });
});

describe("cutText()", () => {
  test("returns a text within the limit unchanged", () => {
    expect(cutText("owls", 4)).toBe("owls");
  });

  test("notes how much was cut, and splits no character", () => {
    expect(cutText("owls hunt", 4)).toBe("owls… [5 more characters omitted]");
    expect(cutText("a🌱b", 2).isWellFormed()).toBe(true);
  });
});
