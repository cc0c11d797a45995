import { describe, expect, test } from "vitest";
import { extractText } from "./extract-text.ts";

const encodeText = (text: string) => new TextEncoder().encode(text);

describe("extractText()", () => {
  test.each(["a.txt", "A.MD", "main.py", "x.tar.json", "table.csv", "notes.html.ts"])(
    "returns the content of %s unchanged",
    async (filename) => {
      expect(await extractText(filename, encodeText("é <b>\n"))).toEqual({
        ok: true,
        text: "é <b>\n",
      });
    },
  );

  test("returns the title and the text of an HTML page", async () => {
    const page = encodeText("<title>Owls</title><p>Hoot<script>x</script>");
    expect(await extractText("a.html", page)).toEqual({ ok: true, text: "Owls\n\nHoot" });
    expect(await extractText("a.HTM", encodeText("<p>Hoot"))).toEqual({ ok: true, text: "Hoot" });
  });

  test("reads UTF-16, and UTF-8 with a byte order mark", async () => {
    const little = Uint8Array.from([0xff, 0xfe, 0x41, 0, 0xe9, 0]);
    const big = Uint8Array.from([0xfe, 0xff, 0, 0x41, 0, 0xe9]);
    for (const text of [little, big, encodeText("\ufeffAé")]) {
      expect(await extractText("a.txt", text)).toEqual({ ok: true, text: "Aé" });
    }
    expect(await extractText("a.txt", new Uint8Array())).toEqual({ ok: true, text: "" });
  });

  test.each(["a.png", "a.pdf", "a.docx", "README", "a.", "", ".", "a.constructor"])(
    "rejects %j as an unsupported file type",
    async (filename) => {
      expect(await extractText(filename, encodeText("text"))).toEqual({
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
  ])("rejects %s as an invalid file", async (_, content) => {
    expect(await extractText("a.txt", content)).toEqual({
      ok: false,
      error: {
        code: "invalid_file",
        message: "The file could not be parsed because its text is neither UTF-8 nor UTF-16.",
      },
    });
  });
});
