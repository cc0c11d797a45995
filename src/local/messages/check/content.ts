import { isPlainObject } from "../../../base/freeze.ts";
import { readRecords, readString, type UnknownRecord } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import {
  anyObject,
  anyValue,
  array,
  boolean,
  string,
  type Validator,
} from "../../validators/validator.ts";
import { anthropicWording, joinPath } from "./anthropic-wording.ts";
import { createInvalidProblem } from "./invalid-problem.ts";
import { assertAnthropic, optional, readRecord, record, tag } from "./record.ts";

/** A content block with a known type. */
export type Block = WireItem & { readonly type: string };

/** Returns a message's content as blocks. A string becomes one block. Rejects blocks that the role cannot have. */
export function checkContent(content: unknown, role: string, path: string): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw anthropicWording.wrongKind(path, ["string", "array"], content);
  return content.map((block, place) => checkBlock(block, role, joinPath(path, place)));
}

function checkBlock(value: unknown, role: string, path: string): Block {
  const block = readRecord(typed, value, path);
  const type = readString(block, "type");
  const shape = blocks.get(type) ?? (type.endsWith("_tool_result") ? serverResult : undefined);
  if (!shape) throw anthropicWording.unknownType(path, "type", type, [...blocks.keys()]);
  const only = roles.get(type) ?? (blocks.has(type) ? role : "assistant");
  if (only !== role)
    throw createInvalidProblem(path, `\`${type}\` blocks can only be in \`${only}\` messages`);
  assertAnthropic(shape, block, path);
  return { ...block, type };
}

const typed = record({ type: string() });
const id = string({ pattern: /^[a-zA-Z0-9_-]+$/ });

const textBlock: Validator = (value, path, words) => {
  const problem = record({ text: string() })(value, path, words);
  if (problem || !isPlainObject(value)) return problem;
  const content = readString(value, "text");
  if (content === "") return createInvalidProblem(path, "text content blocks must be non-empty");
  if (content.trim() !== "") return null;
  return createInvalidProblem(path, "text content blocks must contain non-whitespace text");
};

/** Validates a `source` by its type. */
function sourceByType(sources: Readonly<Record<string, Validator>>): Validator {
  const known = new Map(Object.entries(sources));
  const kind = record({ type: tag(...known.keys()) });
  return (value, path, words) => {
    const problem = kind(value, path, words);
    if (problem || !isPlainObject(value)) return problem;
    return known.get(readString(value, "type"))?.(value, path, words) ?? null;
  };
}

const url = record({ url: string() });
const file = record({ file_id: string() });

function base64Data(...kinds: readonly string[]): Validator {
  return record({ media_type: tag(...kinds), data: string() });
}

const image = record({
  source: sourceByType({
    base64: base64Data("image/jpeg", "image/png", "image/gif", "image/webp"),
    url,
    file,
  }),
});

const document = record({
  source: sourceByType({
    base64: base64Data("application/pdf"),
    text: base64Data("text/plain"),
    content: record({ content: anyValue }),
    url,
    file,
  }),
});

const use = record({ id, name: string(), input: anyObject });

const resultParts: ReadonlyMap<string, Validator> = new Map([
  ["text", record({ text: string() })], // unlike a message's text, a tool's text may be empty
  ["image", image],
  ["document", document],
  ["search_result", record({ source: string() })],
  ["tool_reference", record({ tool_name: string() })],
]);

const resultPart: Validator = (value, path, words = anthropicWording) => {
  const problem = typed(value, path, words);
  if (problem || !isPlainObject(value)) return problem;
  const type = readString(value, "type");
  const shape = resultParts.get(type);
  return shape
    ? shape(value, path, words)
    : words.unknownType(path, "type", type, [...resultParts.keys()]);
};

const resultContent: Validator = (value, path, words) =>
  typeof value === "string" ? null : array(resultPart)(value, path, words);

const serverResult = record({ tool_use_id: id, content: anyValue });

const blocks: ReadonlyMap<string, Validator> = new Map([
  ["text", textBlock],
  ["image", image],
  ["document", document],
  ["search_result", record({ source: string() })],
  ["tool_reference", record({ tool_name: string() })],
  ["container_upload", file],
  ["tool_use", use],
  [
    "tool_result",
    record({ tool_use_id: id, is_error: optional(boolean), content: optional(resultContent) }),
  ],
  ["thinking", record({ thinking: string(), signature: string() })],
  ["redacted_thinking", record({ data: string() })],
  ["server_tool_use", use],
  ["mcp_tool_use", use],
  ["compaction", record({ content: string({ min: 1 }), signature: string() })],
]);

/** The only role whose messages may contain a block. Other blocks may be in any message. */
const roles: ReadonlyMap<string, string> = new Map([
  ["tool_use", "assistant"],
  ["server_tool_use", "assistant"],
  ["mcp_tool_use", "assistant"],
  ["thinking", "assistant"],
  ["redacted_thinking", "assistant"],
  ["tool_result", "user"],
  ["container_upload", "user"],
]);

/** Returns the text of `system`, which is a string or an array of text blocks. */
export function checkSystem(system: unknown): string | null {
  if (system === undefined || system === null) return null;
  if (typeof system === "string") return system === "" ? null : system;
  assertAnthropic(array(systemBlock), system, "system");
  const texts = readRecords({ system }, "system").map((block) => readString(block, "text"));
  // The billing header is not passed to the model.
  const promptTexts = texts.filter((one) => !one.startsWith("x-anthropic-billing-header:"));
  return promptTexts.length === 0 ? null : promptTexts.join("\n\n");
}

const systemBlock: Validator = (value, path, words = anthropicWording) => {
  if (!isPlainObject(value)) return words.wrongKind(path, ["object"], value);
  if (value["type"] !== "text")
    return words.unknownType(path, "type", String(value["type"]), ["text"]);
  return record({ text: string() })(value, path, words);
};

/** Returns the parts of a `tool_result`. A string becomes one part. */
export function readResultParts({ content }: UnknownRecord): readonly WireItem[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject) : [];
}
