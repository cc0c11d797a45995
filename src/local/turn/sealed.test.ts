import { describe, expect, test } from "vitest";
import { sealer } from "./sealed.ts";

const key = new Uint8Array(32).fill(7);
const counting = () => {
  let count = 0;
  return (bytes: number) => new Uint8Array(bytes).fill(++count);
};

describe("what is sealed", () => {
  test("opens again, whatever it is", () => {
    const { seal, open } = sealer(key);
    const content = { items: [{ text: "naïve 🦜 \u0000" }], empty: {} };
    expect(open(seal(content))).toEqual(content);
    expect(open(seal({}))).toEqual({});
  });

  test("is the same for the same randomness, and never twice the same otherwise", () => {
    const [first, second] = [sealer(key, counting()), sealer(key, counting())];
    expect(first.seal({ a: 1 })).toBe(second.seal({ a: 1 }));
    expect(first.seal({ a: 1 })).not.toBe(sealer(key).seal({ a: 1 }));
  });

  test("shows nothing of what it holds, and its version", () => {
    const text = sealer(key, counting()).seal({ secret: "parrot" });
    expect(text).toMatch(/^wink1-[A-Za-z0-9_-]+$/);
    expect(Buffer.from(text, "base64url").toString("latin1")).not.toContain("parrot");
  });

  test("does not open once any character of it is another", () => {
    const { seal, open } = sealer(key, counting());
    const text = seal({ a: 1 });
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === "A" ? "B" : "A";
      expect(open(text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
    }
  });

  test.each(["", "wink1-", "wink1-AAAA", "gAAAAABpPDIU", "wink2-AAAA"])(
    "does not open if it is %j",
    (text) => {
      expect(sealer(key).open(text)).toBeNull();
    },
  );

  test("does not open with something added, cut off or put in between", () => {
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

  test("does not open with another key", () => {
    expect(sealer(new Uint8Array(32).fill(8)).open(sealer(key).seal({ a: 1 }))).toBeNull();
  });

  test("is nothing but an object when it opens", () => {
    const { seal, open } = sealer(key);
    expect(open(seal([1]))).toBeNull();
  });

  test("may have ten megabytes", () => {
    const { seal, open } = sealer(key);
    const text = "0123456789".repeat(1_000_000);
    expect(open(seal({ text }))?.["text"] === text).toBe(true);
  });
});

test("a key of another length is no key, and changing it later changes nothing", () => {
  expect(() => sealer(new Uint8Array(16))).toThrow("A sealer's key has 32 bytes");
  const own = Uint8Array.from(key);
  const { seal, open } = sealer(own);
  const text = seal({ a: 1 });
  own.fill(0);
  expect(open(text)).toEqual({ a: 1 });
});
