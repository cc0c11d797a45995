import { describe, expect, test } from "vitest";
import { textOf } from "./text-of.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the text of a file", () => {
  test.each(["a.txt", "A.MD", "main.py", "x.tar.json", "table.csv", "notes.html.ts"])(
    "named %s is what is in it",
    (filename) => {
      expect(textOf(filename, bytes("é <b>\n"))).toEqual({ ok: true, text: "é <b>\n" });
    },
  );

  test("that is a page is what the page says, with its title first", () => {
    const page = bytes("<title>Owls</title><p>Hoot<script>x</script>");
    expect(textOf("a.html", page)).toEqual({ ok: true, text: "Owls\n\nHoot" });
    expect(textOf("a.HTM", bytes("<p>Hoot"))).toEqual({ ok: true, text: "Hoot" });
  });

  test("may be UTF-16 or begin with a mark of UTF-8", () => {
    const little = Uint8Array.from([0xff, 0xfe, 0x41, 0, 0xe9, 0]);
    const big = Uint8Array.from([0xfe, 0xff, 0, 0x41, 0, 0xe9]);
    for (const text of [little, big, bytes("\ufeffAé")]) {
      expect(textOf("a.txt", text)).toEqual({ ok: true, text: "Aé" });
    }
    expect(textOf("a.txt", new Uint8Array())).toEqual({ ok: true, text: "" });
  });

  test.each(["a.png", "a.pdf", "a.docx", "README", "a.", "", ".", "a.constructor"])(
    "named %j is refused as of a type that is not supported",
    (filename) => {
      expect(textOf(filename, bytes("text"))).toEqual({
        ok: false,
        error: { code: "unsupported_file", message: "The file type is not supported." },
      });
    },
  );

  test.each([
    ["broken UTF-8", Uint8Array.from([0x61, 0xff])],
    ["half a character", Uint8Array.from([0xc3])],
    ["half of UTF-16", Uint8Array.from([0xff, 0xfe, 0x41])],
    ["zero bytes", Uint8Array.from([0x61, 0, 0x62])],
  ])("of %s is refused as invalid", (_, content) => {
    expect(textOf("a.txt", content)).toEqual({
      ok: false,
      error: {
        code: "invalid_file",
        message: "The file could not be parsed because its text is neither UTF-8 nor UTF-16.",
      },
    });
  });
});
