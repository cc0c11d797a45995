import { describe, expect, test } from "vitest";
import { BoundedOutput } from "./output.ts";

describe("bounded output", () => {
  test("keeps all that fits", () => {
    const output = new BoundedOutput(6);
    output.write(Buffer.from("abc"));
    output.write(Buffer.from("def"));
    expect(output.text()).toBe("abcdef");
    expect(output.truncated).toBe(false);
  });

  test("drops what does not, and says so", () => {
    const output = new BoundedOutput(4);
    output.write(Buffer.from("abc"));
    output.write(Buffer.from("def"));
    output.write(Buffer.from("ghi"));
    expect(output.text()).toBe("abcd");
    expect(output.truncated).toBe(true);
  });

  test.each([
    ["é", 2],
    ["漢", 3],
    ["🦉", 4],
  ])("leaves no half of %s", (letter, size) => {
    for (let limit = 0; limit <= 2 * size; limit++) {
      const output = new BoundedOutput(limit);
      output.write(Buffer.from(letter.repeat(3)));
      expect(output.text()).toBe(letter.repeat(Math.floor(limit / size)));
    }
  });

  test("does not look for letters in what is not text", () => {
    const output = new BoundedOutput(4);
    output.write(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]));
    expect(output.text()).toBe("\ufffd".repeat(4));
  });
});
