import { describe, expect, test } from "vitest";
import { sealer } from "./sealer.ts";

const key = new Uint8Array(32).fill(7);
const createCounter = () => {
  let count = 0;
  return (bytes: number) => new Uint8Array(bytes).fill(++count);
};

describe("Sealed content", () => {
  test("can be opened again for any object", () => {
    const { seal, open } = sealer(key);
    const content = { items: [{ text: "naïve 🦜 \u0000" }], empty: {} };
    expect(open(seal(content))).toEqual(content);
    expect(open(seal({}))).toEqual({});
  });

  test("is deterministic for the same random bytes, and otherwise unique", () => {
    const [first, second] = [sealer(key, createCounter()), sealer(key, createCounter())];
    expect(first.seal({ a: 1 })).toBe(second.seal({ a: 1 }));
    expect(first.seal({ a: 1 })).not.toBe(sealer(key).seal({ a: 1 }));
  });

  test("reveals only its version", () => {
    const text = sealer(key, createCounter()).seal({ secret: "parrot" });
    expect(text).toMatch(/^wink1-[A-Za-z0-9_-]+$/);
    expect(Buffer.from(text, "base64url").toString("latin1")).not.toContain("parrot");
  });

  test("cannot be opened if any character is changed", () => {
    const { seal, open } = sealer(key, createCounter());
    const text = seal({ a: 1 });
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === "A" ? "B" : "A";
      expect(open(text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
    }
  });

  test.each(["", "wink1-", "wink1-AAAA", "gAAAAABpPDIU", "wink2-AAAA"])(
    "cannot be opened if it is %j",
    (text) => {
      expect(sealer(key).open(text)).toBeNull();
    },
  );

  test("cannot be opened if characters are added, cut off or inserted", () => {
    const { seal, open } = sealer(key);
    const text = seal({ a: 1 });
    for (const other of [
      `${text}A`,
      `${text}=`,
      `${text}\n`,
      text.slice(0, -1),
      text.replace("-", "- "),
    ])
      expect(open(other)).toBeNull();
  });

  test("cannot be opened with another key", () => {
    expect(sealer(new Uint8Array(32).fill(8)).open(sealer(key).seal({ a: 1 }))).toBeNull();
  });

  test("opens only if it is an object", () => {
    const { seal, open } = sealer(key);
    expect(open(seal([1]))).toBeNull();
  });

  test("can be ten megabytes long", () => {
    const { seal, open } = sealer(key);
    const text = "0123456789".repeat(1_000_000);
    expect(open(seal({ text }))?.["text"] === text).toBe(true);
  });
});

test("sealer() rejects a key of another length, and copies its key", () => {
  expect(() => sealer(new Uint8Array(16))).toThrow("The key must be 32 bytes long, got 16.");
  const own = Uint8Array.from(key);
  const { seal, open } = sealer(own);
  const text = seal({ a: 1 });
  own.fill(0);
  expect(open(text)).toEqual({ a: 1 });
});
