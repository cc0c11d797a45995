import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEvents } from "./responses/events/events.ts";
import { splitIntoChunks } from "./split-into-chunks.ts";
import { builtInCatalog } from "./tools/index.ts";

/** Long and short texts with characters of every width, some of them with lone surrogates. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 3000, size: "max" }),
  fc.string({ unit: "grapheme", maxLength: 300, size: "max" }),
  fc.constantFrom("\ud83e", "\udd9c\ud83e".repeat(40), "🦜".repeat(400)),
);

const anyCitations = fc.array(
  fc.record({ type: fc.constant("url_citation"), end_index: fc.integer({ min: -9, max: 4000 }) }),
  { maxLength: 5 },
);

/** Joins all deltas of one type. */
function joinDeltas(item: object, type: string, read = (delta: unknown): unknown => delta): string {
  const events = createEvents([{ item: { ...item } }], builtInCatalog).filter(
    (event) => event.type === type,
  );
  return events.map((event) => String(read(event["delta"]))).join("");
}

describe("splitIntoChunks()", () => {
  test("returns chunks that join to the text", () => {
    fc.assert(
      fc.property(anyText, anyCitations, (text, annotations) => {
        const said = { type: "message", content: [{ type: "output_text", text, annotations }] };
        expect(joinDeltas(said, "response.output_text.delta")).toBe(text);
      }),
    );
  });

  const output = (stderr: string) => [{ stdout: "", stderr, outcome: { type: "timeout" } }];

  test.each<readonly [name: string, itemOf: (text: string) => object]>([
    ["refusal", (refusal) => ({ type: "message", content: [{ type: "refusal", refusal }] })],
    ["reasoning_summary_text", (text) => ({ type: "reasoning", summary: [{ text }] })],
    ["function_call_arguments", (text) => ({ type: "function_call", arguments: text })],
    ["custom_tool_call_input", (input) => ({ type: "custom_tool_call", input })],
    ["mcp_call_arguments", (text) => ({ type: "mcp_call", arguments: text })],
    ["code_interpreter_call_code", (code) => ({ type: "code_interpreter_call", code })],
    ["shell_call_command", (text) => ({ type: "shell_call", action: { commands: [text] } })],
    [
      "apply_patch_call_operation_diff",
      (diff) => ({ type: "apply_patch_call", operation: { diff } }),
    ],
  ])("streams deltas that join to the text: %s", (name, createItem) => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(joinDeltas(createItem(text), `response.${name}.delta`)).toBe(text);
      }),
    );
  });

  test("streams deltas that join to the text: shell_call_output_content", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const item = { type: "shell_call_output", output: output(text) };
        const name = "response.shell_call_output_content.delta";
        expect(joinDeltas(item, name, (delta) => Object(delta).stderr)).toBe(text);
      }),
    );
  });

  test("returns no empty chunk and splits no surrogate pair", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const chunks = splitIntoChunks(text.toWellFormed());
        expect(chunks.every((chunk) => chunk.length > 0 && chunk.isWellFormed())).toBe(true);
      }),
    );
  });

  test("returns at most 500 chunks for a text of any length", () => {
    expect(splitIntoChunks("").length).toBe(0);
    expect(splitIntoChunks("x".repeat(10_000_000)).length).toBeLessThanOrEqual(500);
  });
});
