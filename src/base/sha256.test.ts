import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "./sha256.ts";

const reference = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

test.each([
  "",
  "abc",
  "Write about $topic.",
  "Übermut 🦉",
  "a".repeat(55),
  "a".repeat(56),
  "a".repeat(64),
])("the hash of %j is what others say", (text) => {
  expect(sha256(text)).toBe(reference(text));
});

test("the hash of any text is what others say, whatever its length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(reference(text));
    }),
  );
});

test("the hash of a long text is what others say", () => {
  const text = "weak incentives ".repeat(20_000);
  expect(sha256(text)).toBe(reference(text));
});
