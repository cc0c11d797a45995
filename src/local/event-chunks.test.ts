import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunksOf } from "./event-chunks.ts";
import { eventsOf } from "./responses/events/events.ts";
import { builtInCatalog } from "./tools/index.ts";

/** Long and short ones, with characters of every width, and halves of some. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 3000, size: "max" }),
  fc.string({ unit: "grapheme", maxLength: 300, size: "max" }),
  fc.constantFrom("\ud83e", "\udd9c\ud83e".repeat(40), "🦜".repeat(400)),
);

const anyCitations = fc.array(
  fc.record({ type: fc.constant("url_citation"), end_index: fc.integer({ min: -9, max: 4000 }) }),
  { maxLength: 5 },
);

/** All deltas of one type, put together. */
function joined(item: object, type: string, read = (delta: unknown): unknown => delta): string {
  const events = eventsOf([{ item: { ...item } }], builtInCatalog).filter(
    (event) => event.type === type,
  );
  return events.map((event) => String(read(event["delta"]))).join("");
}

describe("what comes in pieces", () => {
  test("makes the whole again", () => {
    fc.assert(
      fc.property(anyText, anyCitations, (text, annotations) => {
        const said = { type: "message", content: [{ type: "output_text", text, annotations }] };
        expect(joined(said, "response.output_text.delta")).toBe(text);
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
  ])("makes the whole again: %s", (name, itemOf) => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(joined(itemOf(text), `response.${name}.delta`)).toBe(text);
      }),
    );
  });

  test("makes the whole again: shell_call_output_content", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const item = { type: "shell_call_output", output: output(text) };
        const name = "response.shell_call_output_content.delta";
        expect(joined(item, name, (delta) => Object(delta).stderr)).toBe(text);
      }),
    );
  });

  test("is never empty, nor half a character", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const chunks = chunksOf(text.toWellFormed());
        expect(chunks.every((chunk) => chunk.length > 0 && chunk.isWellFormed())).toBe(true);
      }),
    );
  });

  test("comes in a few hundred at most, however long it is", () => {
    expect(chunksOf("").length).toBe(0);
    expect(chunksOf("x".repeat(10_000_000)).length).toBeLessThanOrEqual(500);
  });
});
