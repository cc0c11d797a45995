import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { hideEncryptedContent, sumEncryptedLengths } from "./item-bytes.ts";

const encrypted = Object.freeze({
  type: "compaction",
  id: "cmp_1",
  encrypted_content: "s".repeat(40),
});

describe("unprinted()", () => {
  it("prints only the length of encrypted content, at any depth", () => {
    const shown = inspect({ a: { b: [hideEncryptedContent(encrypted)] } }, { depth: 9 });
    expect(shown).toContain("encrypted_content: '[40 characters]'");
    expect(shown).toContain("cmp_1");
    expect(shown).not.toContain("sss");
  });

  it("does not change the data", () => {
    const item = hideEncryptedContent(encrypted);
    expect(item).toStrictEqual(encrypted);
    expect(JSON.stringify(item)).toBe(JSON.stringify(encrypted));
    expect(Object.keys(item)).toEqual(Object.keys(encrypted));
    expect(item.encrypted_content).toBe(encrypted.encrypted_content);
  });

  it("copies the item, which stays frozen if it was", () => {
    expect(Object.getOwnPropertySymbols(encrypted)).toEqual([]);
    expect(Object.isFrozen(hideEncryptedContent(encrypted))).toBe(true);
    expect(Object.isFrozen(hideEncryptedContent({ ...encrypted }))).toBe(false);
  });

  it("returns an already hidden item unchanged", () => {
    const item = hideEncryptedContent(encrypted);
    expect(hideEncryptedContent(item)).toBe(item);
  });

  it.each([{ type: "message" }, { type: "reasoning", encrypted_content: null }])(
    "returns %j unchanged",
    (item) => {
      expect(hideEncryptedContent(item)).toBe(item);
      expect(sumEncryptedLengths([item, encrypted, encrypted])).toBe(80);
    },
  );
});
