import { expect, test } from "vitest";
import { encodeText, textDecoder } from "./text-encoding.ts";

test("textDecoder() reads every encoding that TextDecoder supports", () => {
  expect(textDecoder("f", "shift_jis")(Uint8Array.of(0x82, 0xa0))).toBe("あ");
  expect(textDecoder("f", "utf-16be")(Uint8Array.of(0, 0x61))).toBe("a");
  expect(textDecoder("f", "windows-1252")(Uint8Array.of(0x80))).toBe("€");
});

test.each([
  ["UTF8", [0xc3, 0xa9]],
  [" utf-8 ", [0xc3, 0xa9]],
  ["utf-16", [0xe9, 0]],
  ["ISO-8859-1", [0xe9]],
])("encodeText() and textDecoder() accept aliases of an encoding: %j", (name, bytes) => {
  expect([...encodeText("f", "é", name)]).toEqual(bytes);
  expect(textDecoder("f", name)(Uint8Array.from(bytes))).toBe("é");
});

test("textDecoder() decodes a long latin1 text", () => {
  const text = "é".repeat(20_001);
  expect(textDecoder("f", "latin1")(encodeText("f", text, "latin1"))).toBe(text);
});

test.each([
  [
    "klingon",
    "x",
    'EINVAL: "f" cannot use the unknown encoding "klingon". Use utf-8, utf-16le or latin1.',
  ],
  ["big5", "x", 'EINVAL: "f" cannot be written in big5. Use utf-8, utf-16le or latin1.'],
  ["latin1", "a€", 'EINVAL: "f" cannot contain "€" in latin1. Use utf-8.'],
  [
    "utf-16le",
    "\uDC00",
    'EINVAL: "f" cannot be written because the text has a lone surrogate. Split text between characters.',
  ],
  [
    "utf-8",
    null as never,
    'EINVAL: "f" can only be written as a string, got null. Use write for bytes.',
  ],
])("encodeText() explains why it rejects a text: in %s %j", (encoding, text, message) => {
  expect(() => encodeText("f", text, encoding)).toThrow(message);
});

test("textDecoder() suggests readBytes if the bytes are not in the encoding", () => {
  expect(() => textDecoder("f", "utf-16le")(Uint8Array.of(0))).toThrow(
    'EINVAL: "f" is not valid utf-16le. Read it with readBytes.',
  );
});
