import { expect, test } from "vitest";
import { encodeText, textDecoder } from "./text-encoding.ts";

test("every encoding that TextDecoder knows is read", () => {
  expect(textDecoder("f", "shift_jis")(Uint8Array.of(0x82, 0xa0))).toBe("あ");
  expect(textDecoder("f", "utf-16be")(Uint8Array.of(0, 0x61))).toBe("a");
  expect(textDecoder("f", "windows-1252")(Uint8Array.of(0x80))).toBe("€");
});

test.each([
  ["UTF8", [0xc3, 0xa9]],
  [" utf-8 ", [0xc3, 0xa9]],
  ["utf-16", [0xe9, 0]],
  ["ISO-8859-1", [0xe9]],
])("an encoding may be called by another of its names: %j", (name, bytes) => {
  expect([...encodeText("f", "é", name)]).toEqual(bytes);
  expect(textDecoder("f", name)(Uint8Array.from(bytes))).toBe("é");
});

test("a long text in latin1 is read whole", () => {
  const text = "é".repeat(20_001);
  expect(textDecoder("f", "latin1")(encodeText("f", text, "latin1"))).toBe(text);
});

test.each([
  ["klingon", "x", 'EINVAL: "f" has no encoding "klingon": use utf-8, utf-16le or latin1'],
  ["big5", "x", 'EINVAL: "f" cannot be written in big5: use utf-8, utf-16le or latin1'],
  ["latin1", "a€", 'EINVAL: "f" cannot hold "€" in latin1: use utf-8'],
  ["utf-16le", "\uDC00", 'EINVAL: "f" cannot hold half a character: the text has a lone surrogate'],
  ["utf-8", null as never, 'EINVAL: "f" can only hold text, not null'],
])("what cannot be written says why: in %s %j", (encoding, text, message) => {
  expect(() => encodeText("f", text, encoding)).toThrow(message);
});

test("what is not in the encoding says how it can be read", () => {
  expect(() => textDecoder("f", "utf-16le")(Uint8Array.of(0))).toThrow(
    'EINVAL: "f" is not valid utf-16le: read it with readBytes',
  );
});
