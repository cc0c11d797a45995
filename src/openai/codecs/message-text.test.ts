import { describe, expect, test } from "vitest";
import type { WireItem } from "../wire.ts";
import { findRefusal, readMessageText, withoutText } from "./message-text.ts";

const cite = { type: "url_citation", url: "https://a.example", title: "A" };
const createPart = (text: string, ...annotations: object[]) => ({
  type: "output_text",
  text,
  annotations,
});
const createMessage = (...content: unknown[]): WireItem => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content,
});

/** Creates an object nested deeply enough to overflow a recursive walk. */
function createDeepObject(): object {
  let value: object = {};
  for (let level = 0; level < 100_000; level++) value = { value };
  return value;
}

describe("readMessageText()", () => {
  test("returns an empty text without messages", () => {
    expect(readMessageText([])).toEqual({ text: "", citations: [] });
    expect(readMessageText([{ type: "reasoning", summary: [] }])).toEqual({
      text: "",
      citations: [],
    });
  });

  test("joins the text of all parts of all messages", () => {
    const items = [
      createMessage(createPart("Let me "), createPart("see.")),
      { type: "web_search_call", id: "ws_1" },
      createMessage(createPart(" Done.")),
    ];
    expect(readMessageText(items).text).toBe("Let me see. Done.");
  });

  test("returns spans relative to the whole text, for any characters", () => {
    const items = [
      createMessage(
        createPart("🌍 one ", { ...cite, start_index: 3, end_index: 6 }),
        createPart("two "),
      ),
      createMessage(createPart("drei", { ...cite, start_index: 0, end_index: 4 })),
    ];
    const { text, citations } = readMessageText(items);
    const cut = citations.map(({ span }) => span && text.slice(...span));
    expect(text).toBe("🌍 one two drei");
    expect(cut).toEqual(["one", "drei"]);
  });

  test("retains repeated citations in order", () => {
    const twice = createPart("ab", { ...cite, start_index: 0, end_index: 1 }, { ...cite });
    expect(readMessageText([createMessage(twice)]).citations).toEqual([
      { type: "url", span: [0, 1], url: cite.url, title: "A" },
      { type: "url", span: null, url: cite.url, title: "A" },
    ]);
  });

  test("ignores refusals, input messages and unknown parts", () => {
    const items = [
      createMessage(
        { type: "refusal", refusal: "No." },
        { type: "summary_text", text: "x" },
        createPart("Yes."),
      ),
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
      { type: "message", role: "developer", content: "Hurry." },
    ];
    expect(readMessageText(items)).toEqual({ text: "Yes.", citations: [] });
  });

  test("reads an assistant's message without a type", () => {
    expect(readMessageText([{ role: "assistant", content: [createPart("Hi")] }]).text).toBe("Hi");
    expect(readMessageText([{ role: "user", content: [createPart("Hi")] }]).text).toBe("");
    expect(
      readMessageText([{ type: "odd", role: "assistant", content: [createPart("Hi")] }]).text,
    ).toBe("");
  });

  test.each([
    ["null", null],
    ["a string", "words"],
    ["a number", 7],
    ["an object", { type: "output_text", text: "x" }],
    ["an array of invalid parts", [null, 3, "x", [createPart("x")], {}]],
    ["parts without texts", [{ type: "output_text" }, { type: "output_text", text: 5 }]],
    [
      "deeply nested",
      [
        createDeepObject(),
        { type: "output_text", text: createDeepObject(), annotations: [createDeepObject()] },
      ],
    ],
  ])("tolerates content that is %s", (_, content) => {
    expect(readMessageText([{ type: "message", content }])).toEqual({ text: "", citations: [] });
  });

  test("tolerates items that are not objects, and 200,000 annotations", () => {
    const odd = [null, 7, [], "x"] as unknown as WireItem[];
    const annotations = Array.from({ length: 200_000 }, () => cite);
    const long = { type: "output_text", text: "x".repeat(1_000_000), annotations };
    expect(readMessageText([...odd, createMessage(long)]).citations).toHaveLength(200_000);
  });
});

describe("findRefusal()", () => {
  test("returns null without a refusal", () => {
    expect(findRefusal([createMessage(createPart("Yes."))])).toBeNull();
    expect(findRefusal([{ type: "message", content: null }])).toBeNull();
  });

  test("returns the model's reason", () => {
    const refusal = (text: unknown) => ({ type: "refusal", refusal: text });
    expect(
      findRefusal([createMessage(createPart("Hm. "), refusal("I can't "), refusal("do that."))]),
    ).toBe("I can't do that.");
    expect(findRefusal([createMessage(refusal(null))])).toBe("");
  });
});

describe("withoutText()", () => {
  const citing = createPart("abc", { ...cite, start_index: 0, end_index: 2 });
  const file = { type: "file_citation", file_id: "file-1", filename: "a.txt", index: 0 };

  test("removes a message's text and spans but retains its citations", () => {
    expect(
      readMessageText([
        withoutText(createMessage(citing, createPart("d", file))),
        createMessage(createPart("Last.")),
      ]),
    ).toEqual({
      text: "Last.",
      citations: [
        { type: "url", span: null, url: cite.url, title: "A" },
        { type: "file", span: null, fileId: "file-1", filename: "a.txt" },
      ],
    });
  });

  test("changes no other part and does not modify its argument", () => {
    const refusal = { type: "refusal", refusal: "No." };
    const before = createMessage(citing, refusal, null, { type: "output_text", text: "x" });
    const copy = structuredClone(before);
    expect(withoutText(before)).toEqual({
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

  test("returns any other item unchanged", () => {
    for (const item of [
      { type: "web_search_call", id: "ws_1", content: [citing] },
      { type: "message", content: null },
      { type: "message", role: "developer", content: "Hurry." },
    ]) {
      expect(withoutText(item)).toBe(item);
    }
  });
});
