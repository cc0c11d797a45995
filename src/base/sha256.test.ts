import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "./sha256.ts";

const hashWithNode = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

test.each([
  "",
  "abc",
  "Write about $topic.",
  "Übermut 🦉",
  "a".repeat(55),
  "a".repeat(56),
  "a".repeat(64),
])("sha256() matches node:crypto for %j", (text) => {
  expect(sha256(text)).toBe(hashWithNode(text));
});

test("sha256() matches node:crypto for any text of any length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(hashWithNode(text));
    }),
  );
});

test("sha256() matches node:crypto for a long text", () => {
  const text = "weak incentives ".repeat(20_000);
  expect(sha256(text)).toBe(hashWithNode(text));
});
