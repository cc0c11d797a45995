import { isPlainObject } from "../../../base/freeze.ts";
import type { UpstreamAnswer } from "./upstream-answer.ts";

type Json = Readonly<Record<string, unknown>>;

/** Reads the answer of a response. Returns a string with the reason if it cannot be read. */
export function readResponse({ output, status }: Json): UpstreamAnswer | string {
  if (status === "failed") return "a response that failed";
  if (!Array.isArray(output)) return "no output";
  const items = output.filter(isPlainObject);
  const messages = items
    .filter(({ type }) => type === "message")
    .flatMap((one) => readContentParts(one, "content"));
  return {
    thought: readThought(items),
    text: messages.flatMap((part) => readTexts(part, "text")).join(""),
    refusal: messages.flatMap((part) => readTexts(part, "refusal")).join(""),
    calls: items
      .filter(({ type }) => type === "function_call")
      .map(({ name, arguments: args }) => ({ name: String(name ?? ""), args })),
  };
}

/** Returns the reasoning of a response's items. */
export function readThought(items: readonly Json[]): string {
  const thoughts = items.filter(({ type }) => type === "reasoning").flatMap(readReasoning);
  return thoughts.join("\n");
}

/** Returns the reasoning text, or the summary if there is none. */
function readReasoning(item: Json): readonly string[] {
  const content = readContentParts(item, "content");
  const parts = content.length > 0 ? content : readContentParts(item, "summary");
  return parts.flatMap((part) => readTexts(part, "text"));
}

function readContentParts(item: Json, key: string): readonly Json[] {
  const parts = item[key];
  if (typeof parts === "string") return [{ text: parts }];
  return Array.isArray(parts) ? parts.filter(isPlainObject) : [];
}

function readTexts(part: Json, key: string): readonly string[] {
  const text = part[key];
  return typeof text === "string" ? [text] : [];
}
