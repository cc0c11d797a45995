import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { at, flagIn, listIn, neededAt, neededText, oneOf, recordIn, textIn } from "./fields.ts";
import { refusal } from "./refusal.ts";

/** A content block that is known by its type. */
export type Block = WireItem & { readonly type: string };

/** A message's content as blocks; a text is one block. Refuses what the role cannot say. */
export function checkContent(content: unknown, role: string, path: string): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw refusal(path, "Input should be a valid string or list");
  return content.map((block, place) => checkBlock(block, role, at(path, place)));
}

type Check = (block: WireItem, path: string) => void;

function checkBlock(block: unknown, role: string, path: string): Block {
  const record = recordIn(block, path);
  const type = neededText(record, "type", path);
  const check = checks.get(type) ?? (type.endsWith("_tool_result") ? serverResult : undefined);
  if (!check) throw unknownTag(type, path, [...checks.keys()]);
  const only = roles.get(type) ?? (checks.has(type) ? null : "assistant");
  if (only !== null && only !== undefined && only !== role)
    throw refusal(path, `\`${type}\` blocks can only be in \`${only}\` messages`);
  check(record, path);
  return { ...record, type };
}

/** `Input tag 'x' found using 'type' does not match any of the expected tags: 'text', …` */
export function unknownTag(type: string, path: string, known: readonly string[]): Error {
  const tags = known.map((tag) => `'${tag}'`).join(", ");
  const found = `Input tag '${type}' found using 'type' does not match any of the expected tags`;
  return refusal(path, `${found}: ${tags}`);
}

const ID = /^[a-zA-Z0-9_-]+$/;

const text: Check = (block, path) => {
  const said = neededText(block, "text", path);
  if (said === "") throw refusal(path, "text content blocks must be non-empty");
  if (said.trim() === "")
    throw refusal(path, "text content blocks must contain non-whitespace text");
};

const image: Check = (block, path) => {
  const place = at(path, "source");
  const source = recordIn(neededAt(block, "source", path), place);
  const type = oneOf(source["type"], at(place, "type"), ["base64", "url", "file"]);
  if (type === "url") neededText(source, "url", place);
  else if (type === "file") neededText(source, "file_id", place);
  else {
    const kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    oneOf(source["media_type"], at(place, "media_type"), kinds);
    neededText(source, "data", place);
  }
};

const document: Check = (block, path) => {
  const place = at(path, "source");
  const source = recordIn(neededAt(block, "source", path), place);
  const kinds = ["base64", "text", "content", "url", "file"];
  const type = oneOf(source["type"], at(place, "type"), kinds);
  if (type === "url") neededText(source, "url", place);
  else if (type === "file") neededText(source, "file_id", place);
  else if (type === "content") neededAt(source, "content", place);
  else {
    const kind = type === "text" ? "text/plain" : "application/pdf";
    oneOf(source["media_type"], at(place, "media_type"), [kind]);
    neededText(source, "data", place);
  }
};

const use: Check = (block, path) => {
  neededText(block, "id", path, ID);
  neededText(block, "name", path);
  recordIn(neededAt(block, "input", path), at(path, "input"));
};

const toolResult: Check = (block, path) => {
  neededText(block, "tool_use_id", path, ID);
  flagIn(block["is_error"], at(path, "is_error"));
  const { content } = block;
  if (content === undefined || content === null || typeof content === "string") return;
  const place = at(path, "content");
  for (const [index, part] of listIn(content, place).entries()) {
    const where = at(place, index);
    const record = recordIn(part, where);
    const type = neededText(record, "type", where);
    const check = checks.get(type);
    if (!RESULT_PARTS.has(type) || !check) throw unknownTag(type, where, [...RESULT_PARTS]);
    if (type !== "text") check(record, where);
    else neededText(record, "text", where); // one that is empty is what a tool may well give
  }
};

const RESULT_PARTS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "tool_reference",
]);

const serverResult: Check = (block, path) => {
  neededText(block, "tool_use_id", path, ID);
  neededAt(block, "content", path);
};

const thinking: Check = (block, path) => {
  neededText(block, "thinking", path);
  neededText(block, "signature", path);
};

const anyFields: Check = () => undefined;

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["text", text],
  ["image", image],
  ["document", document],
  ["search_result", (block, path) => void neededText(block, "source", path)],
  ["tool_reference", (block, path) => void neededText(block, "tool_name", path)],
  ["container_upload", (block, path) => void neededText(block, "file_id", path)],
  ["tool_use", use],
  ["tool_result", toolResult],
  ["thinking", thinking],
  ["redacted_thinking", (block, path) => void neededText(block, "data", path)],
  ["server_tool_use", use],
  ["mcp_tool_use", use],
  ["compaction", anyFields],
]);

/** Whose messages may have it; the rest, anybody's. */
const roles: ReadonlyMap<string, string> = new Map([
  ["tool_use", "assistant"],
  ["server_tool_use", "assistant"],
  ["mcp_tool_use", "assistant"],
  ["thinking", "assistant"],
  ["redacted_thinking", "assistant"],
  ["tool_result", "user"],
  ["container_upload", "user"],
]);

/** `system`: a text, or blocks of text. */
export function checkSystem(system: unknown): string | null {
  if (system === undefined || system === null) return null;
  if (typeof system === "string") return system === "" ? null : system;
  const texts = listIn(system, "system").map((block, place) => {
    const path = at("system", place);
    const record = recordIn(block, path);
    if (record["type"] !== "text") throw unknownTag(String(record["type"]), path, ["text"]);
    return textIn(neededAt(record, "text", path), at(path, "text"));
  });
  // What bills a request is not said to the model.
  const said = texts.filter((one) => !one.startsWith("x-anthropic-billing-header:"));
  return said.length === 0 ? null : said.join("\n\n");
}

/** The texts and objects of a `tool_result`, whichever way it is written. */
export function partsOfResult({ content }: WireItem): readonly WireItem[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject) : [];
}
