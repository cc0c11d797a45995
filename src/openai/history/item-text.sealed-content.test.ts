import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { sealedLength, unprinted } from "./item-text.ts";

const sealed = Object.freeze({
  type: "compaction",
  id: "cmp_1",
  encrypted_content: "s".repeat(40),
});

describe("an item that only the provider can read", () => {
  it("shows its length where it is printed, however deep it lies, and all else", () => {
    const shown = inspect({ a: { b: [unprinted(sealed)] } }, { depth: 9 });
    expect(shown).toContain("encrypted_content: '[40 characters]'");
    expect(shown).toContain("cmp_1");
    expect(shown).not.toContain("sss");
  });

  it("is the same as data", () => {
    const item = unprinted(sealed);
    expect(item).toStrictEqual(sealed);
    expect(JSON.stringify(item)).toBe(JSON.stringify(sealed));
    expect(Object.keys(item)).toEqual(Object.keys(sealed));
    expect(item.encrypted_content).toBe(sealed.encrypted_content);
  });

  it("is not written to, and stays frozen if it was", () => {
    expect(Object.getOwnPropertySymbols(sealed)).toEqual([]);
    expect(Object.isFrozen(unprinted(sealed))).toBe(true);
    expect(Object.isFrozen(unprinted({ ...sealed }))).toBe(false);
  });

  it("is made so once", () => {
    const item = unprinted(sealed);
    expect(unprinted(item)).toBe(item);
  });

  it.each([{ type: "message" }, { type: "reasoning", encrypted_content: null }])(
    "is not one like %j, which stays what it is",
    (item) => {
      expect(unprinted(item)).toBe(item);
      expect(sealedLength([item, sealed, sealed])).toBe(80);
    },
  );
});
