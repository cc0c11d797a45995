import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";

/** Returns the text of the last user or system message; `""` if there is none. */
export function readLastText(items: readonly WireItem[]): string {
  const last = items.findLast(({ role }) => typeof role === "string" && role !== "assistant");
  const content = last?.["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isPlainObject)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
