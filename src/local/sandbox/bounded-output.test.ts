import { describe, expect, test } from "vitest";
import { BoundedOutput } from "./bounded-output.ts";

describe("BoundedOutput", () => {
  test("keeps output up to the limit", () => {
    const output = new BoundedOutput(6);
    output.write(Buffer.from("abc"));
    output.write(Buffer.from("def"));
    expect(output.toText()).toBe("abcdef");
    expect(output.truncated).toBe(false);
  });

  test("drops output beyond the limit and reports truncation", () => {
    const output = new BoundedOutput(4);
    output.write(Buffer.from("abc"));
    output.write(Buffer.from("def"));
    output.write(Buffer.from("ghi"));
    expect(output.toText()).toBe("abcd");
    expect(output.truncated).toBe(true);
  });

  test.each([
    ["é", 2],
    ["漢", 3],
    ["🦉", 4],
  ])("drops an incomplete character: %s", (letter, size) => {
    for (let limit = 0; limit <= 2 * size; limit++) {
      const output = new BoundedOutput(limit);
      output.write(Buffer.from(letter.repeat(3)));
      expect(output.toText()).toBe(letter.repeat(Math.floor(limit / size)));
    }
  });

  test("does not look for characters in binary data", () => {
    const output = new BoundedOutput(4);
    output.write(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]));
    expect(output.toText()).toBe("\ufffd".repeat(4));
  });
});
