import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { fileSearchTool } from "../../tools/hosted/file-search.ts";
import { imageGenerationTool } from "../../tools/hosted/image-generation.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import { defaultCodecs } from "./index.ts";
import { findRefusal, readMessageText, withoutText } from "./message-text.ts";

const tools: readonly HostedTool[] = [
  webSearchTool(),
  fileSearchTool({ vectorStoreIds: ["vs_1"] }),
  codeInterpreterTool(),
  shellTool(),
  shellTool({ environment: { type: "local" } }, { executor: { run: async () => [] } }),
  applyPatchTool(),
  imageGenerationTool(),
  mcpTool({ serverLabel: "s", serverUrl: "https://s.example" }),
];

const types = [
  "message",
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
];
const words = ["url_citation", "file_citation", "file_path", "container_file_citation"];

const index = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.double(), fc.jsonValue());
const annotation = fc.record(
  {
    type: fc.constantFrom(...words, "other"),
    url: fc.oneof(fc.webUrl(), fc.jsonValue()),
    filename: fc.jsonValue(),
    index,
    start_index: index,
    end_index: index,
  },
  { requiredKeys: ["type"] },
);
const text = fc.string({ unit: fc.constantFrom("a", "(", "[", "]", ")", "🌍", "\ud83d", "\n") });
const part = fc.record({
  type: fc.constantFrom("output_text", "refusal", "other"),
  text: fc.oneof(text, fc.jsonValue()),
  refusal: fc.jsonValue(),
  annotations: fc.oneof(fc.array(fc.oneof(annotation, fc.jsonValue())), fc.jsonValue()),
});
const mostly = <T>(likely: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: likely }, fc.jsonValue());
const item: fc.Arbitrary<WireItem> = fc.record(
  {
    type: fc.constantFrom(...types),
    id: mostly(fc.constantFrom("a", "b")),
    call_id: mostly(fc.constantFrom("a", "b")),
    status: mostly(fc.constantFrom("completed", "failed", "incomplete", "searching")),
    content: mostly(fc.array(part)),
    action: mostly(
      fc.dictionary(fc.constantFrom("type", "commands", "queries", "sources"), fc.jsonValue()),
    ),
    operation: mostly(
      fc.record({ type: fc.constantFrom("create_file", "odd"), path: fc.jsonValue() }),
    ),
    outputs: fc.jsonValue(),
    output: fc.jsonValue(),
    results: fc.jsonValue(),
    result: fc.jsonValue(),
    tools: fc.jsonValue(),
    error: fc.jsonValue(),
    server_label: mostly(fc.constant("s")),
    environment: fc.jsonValue(),
  },
  { requiredKeys: ["type"] },
);

test("every codec reads arbitrary items, and each call references its item", () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      for (const tool of tools) {
        const codec = defaultCodecs.find(({ kind }) => kind === tool.kind);
        const calls = [
          ...(codec?.calls?.(items, tool) ?? []),
          ...(codec?.delegatedCalls?.(items, tool) ?? []),
        ];
        for (const { raw, name, kind } of calls) {
          expect(items).toContain(raw);
          expect({ name, kind }).toEqual({ name: tool.name, kind: tool.kind });
        }
        expect(codec?.parseOutput(items, tool)).not.toBeUndefined();
      }
    }),
  );
});

test("spans lie within the text for arbitrary messages, and are null for earlier turns", () => {
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const { text: whole, citations } = readMessageText(items);
      expect(findRefusal(items)).not.toBeUndefined();
      for (const { span } of citations) {
        const [start, end] = span ?? [0, 0];
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeGreaterThanOrEqual(start);
        expect(whole.length).toBeGreaterThanOrEqual(end);
      }
      const earlier = readMessageText(items.map(withoutText));
      expect(earlier.text).toBe("");
      expect(earlier.citations).toEqual(citations.map((citation) => ({ ...citation, span: null })));
    }),
  );
});

test("a span never splits a surrogate pair", () => {
  const place = fc.nat(12);
  fc.assert(
    fc.property(text, place, place, (words, start_index, end_index) => {
      const annotations = [{ type: "url_citation", start_index, end_index }];
      const content = [{ type: "output_text", text: words, annotations }];
      const [citation] = readMessageText([{ type: "message", content }]).citations;
      for (const at of citation?.span ?? []) {
        expect(at === 0 || (words.codePointAt(at - 1) ?? 0) <= 0xffff).toBe(true);
      }
    }),
  );
});
