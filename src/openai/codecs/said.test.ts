import { describe, expect, test } from "vitest";
import type { WireItem } from "../wire.ts";
import { asEarlier, refusalIn, said } from "./said.ts";

const cite = { type: "url_citation", url: "https://a.example", title: "A" };
const part = (text: string, ...annotations: object[]) => ({
  type: "output_text",
  text,
  annotations,
});
const message = (...content: unknown[]): WireItem => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content,
});

/** Nested deeply enough to end a walk that recurses. */
function deep(): object {
  let value: object = {};
  for (let level = 0; level < 100_000; level++) value = { value };
  return value;
}

describe("said", () => {
  test("is nothing where there is no message", () => {
    expect(said([])).toEqual({ text: "", citations: [] });
    expect(said([{ type: "reasoning", summary: [] }])).toEqual({ text: "", citations: [] });
  });

  test("is the text of all parts of all messages, with nothing between", () => {
    const items = [
      message(part("Let me "), part("see.")),
      { type: "web_search_call", id: "ws_1" },
      message(part(" Done.")),
    ];
    expect(said(items).text).toBe("Let me see. Done.");
  });

  test("has spans that count from the start of the whole text, whatever characters it has", () => {
    const items = [
      message(part("🌍 one ", { ...cite, start_index: 3, end_index: 6 }), part("two ")),
      message(part("drei", { ...cite, start_index: 0, end_index: 4 })),
    ];
    const { text, citations } = said(items);
    const cut = citations.map(({ span }) => span && text.slice(...span));
    expect(text).toBe("🌍 one two drei");
    expect(cut).toEqual(["one", "drei"]);
  });

  test("keeps the same citation as often as it is made, in order", () => {
    const twice = part("ab", { ...cite, start_index: 0, end_index: 1 }, { ...cite });
    expect(said([message(twice)]).citations).toEqual([
      { type: "url", span: [0, 1], url: cite.url, title: "A" },
      { type: "url", span: null, url: cite.url, title: "A" },
    ]);
  });

  test("leaves out refusals, what was said to the model, and parts it does not know", () => {
    const items = [
      message(
        { type: "refusal", refusal: "No." },
        { type: "summary_text", text: "x" },
        part("Yes."),
      ),
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
      { type: "message", role: "developer", content: "Hurry." },
    ];
    expect(said(items)).toEqual({ text: "Yes.", citations: [] });
  });

  test("counts an assistant's message that was sent without a type", () => {
    expect(said([{ role: "assistant", content: [part("Hi")] }]).text).toBe("Hi");
    expect(said([{ role: "user", content: [part("Hi")] }]).text).toBe("");
    expect(said([{ type: "odd", role: "assistant", content: [part("Hi")] }]).text).toBe("");
  });

  test.each([
    ["null", null],
    ["a text", "words"],
    ["a number", 7],
    ["an object", { type: "output_text", text: "x" }],
    ["a list of nothing useful", [null, 3, "x", [part("x")], {}]],
    ["parts without texts", [{ type: "output_text" }, { type: "output_text", text: 5 }]],
    ["something deep", [deep(), { type: "output_text", text: deep(), annotations: [deep()] }]],
  ])("bears content that is %s", (_, content) => {
    expect(said([{ type: "message", content }])).toEqual({ text: "", citations: [] });
  });

  test("bears items that are no objects, and very many annotations", () => {
    const odd = [null, 7, [], "x"] as unknown as WireItem[];
    const annotations = Array.from({ length: 200_000 }, () => cite);
    const long = { type: "output_text", text: "x".repeat(1_000_000), annotations };
    expect(said([...odd, message(long)]).citations).toHaveLength(200_000);
  });
});

describe("refusalIn", () => {
  test("is null where nothing is refused", () => {
    expect(refusalIn([message(part("Yes."))])).toBeNull();
    expect(refusalIn([{ type: "message", content: null }])).toBeNull();
  });

  test("is what the model gave as its reason", () => {
    const refusal = (text: unknown) => ({ type: "refusal", refusal: text });
    expect(refusalIn([message(part("Hm. "), refusal("I can't "), refusal("do that."))])).toBe(
      "I can't do that.",
    );
    expect(refusalIn([message(refusal(null))])).toBe("");
  });
});

describe("asEarlier", () => {
  const citing = part("abc", { ...cite, start_index: 0, end_index: 2 });
  const file = { type: "file_citation", file_id: "file-1", filename: "a.txt", index: 0 };

  test("takes a message's words and places, and keeps what it cites", () => {
    expect(said([asEarlier(message(citing, part("d", file))), message(part("Last."))])).toEqual({
      text: "Last.",
      citations: [
        { type: "url", span: null, url: cite.url, title: "A" },
        { type: "file", span: null, fileId: "file-1", filename: "a.txt" },
      ],
    });
  });

  test("changes nothing else of it, and not the message itself", () => {
    const refusal = { type: "refusal", refusal: "No." };
    const before = message(citing, refusal, null, { type: "output_text", text: "x" });
    const copy = structuredClone(before);
    expect(asEarlier(before)).toEqual({
      ...copy,
      content: [
        { type: "output_text", text: "", annotations: [cite] },
        refusal,
        null,
        { type: "output_text", text: "", annotations: [] },
      ],
    });
    expect(before).toEqual(copy);
  });

  test("gives back any other item as it is", () => {
    for (const item of [
      { type: "web_search_call", id: "ws_1", content: [citing] },
      { type: "message", content: null },
      { type: "message", role: "developer", content: "Hurry." },
    ]) {
      expect(asEarlier(item)).toBe(item);
    }
  });
});
