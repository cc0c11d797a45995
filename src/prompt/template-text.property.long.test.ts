// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders
import fc from "fast-check";
import { expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { checkPlaceholders, fillTemplate, parseTemplate } from "./template-text.ts";

const params = { a: "1", topic: "owls", _x: "$a", empty: "" };

/** Text composed of template syntax and arbitrary characters. */
const template = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "$",
        "$$",
        "$a",
        "${topic}",
        "${",
        "}",
        "$_x",
        "$empty",
        "$other",
        "\n",
        "  ",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

/**
 * Fills a template without indentation character by character. Returns `null` if it must be
 * rejected.
 */
function fillReference(text: string): string | null {
  let filled = "";
  for (let index = 0; index < text.length; ) {
    const rest = text.slice(index);
    if (!rest.startsWith("$")) {
      filled += rest[0];
      index += 1;
      continue;
    }
    const [whole, name] = /^\$\{(\w+)\}/.exec(rest) ?? /^\$(\w+)/.exec(rest) ?? [];
    const value = Object.entries(params).find(([key]) => key === name)?.[1];
    if (rest.startsWith("$$")) {
      filled += "$";
      index += 2;
    } else if (whole !== undefined && value !== undefined) {
      filled += value;
      index += whole.length;
    } else return null;
  }
  return filled.trim();
}

test("any template is filled like the reference implementation, or rejected", () => {
  fc.assert(
    fc.property(template, (given) => {
      const text = removeIndentation(given);
      let filled: string | null = null;
      try {
        const read = parseTemplate(text, "T");
        checkPlaceholders(read, new Set(Object.keys(params)), "T");
        filled = fillTemplate(read, params);
      } catch (error) {
        expect(error).toBeInstanceOf(PromptValidationError);
      }
      expect(filled).toBe(fillReference(text));
    }),
    { numRuns: 1_000 },
  );
});

test("any text with doubled dollar signs is restored", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (given) => {
      const text = removeIndentation(given);
      const read = parseTemplate(text.replaceAll("$", "$$$$"), "T");
      expect(read.names.size).toBe(0);
      expect(fillTemplate(read, {})).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

test("any text may be indented as a whole", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("", "  ", "\t", "\t  "), (given, indent) => {
      const text = removeIndentation(given).replaceAll("$", "");
      const indented = text.split("\n").map((line) => `${indent}${line}`);
      const read = parseTemplate(`\n${indented.join("\n")}\n`, "T");
      expect(fillTemplate(read, {})).toBe(removeIndentation(text));
    }),
  );
});

/** Trims each line's start and empties blank lines, so that indentation does not matter. */
function removeIndentation(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.trim() === "" ? "" : line.replace(/^[ \t]+/, "")))
    .join("\n")
    .trim();
}
