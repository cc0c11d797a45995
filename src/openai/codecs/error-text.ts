import { isPlainObject } from "../../base/freeze.ts";
import { numberAt, recordsAt, textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type { WireItem } from "../wire.ts";

/** The provider's `error` of an item as one text with its code; `null` if there is none. */
export function errorText(error: unknown): string | null {
  if (error === undefined || error === null || error === "") return null;
  if (typeof error === "string") return error;
  if (!isPlainObject(error)) return show(error);
  const code = numberAt(error, "code") ?? textAt(error, "code");
  const kind = [textAt(error, "type"), code].filter((part) => part !== "").join(" ");
  const text = [kind, wordsOf(error)].filter((part) => part !== "").join(": ");
  return text === "" ? "an error that says nothing" : text;
}

/** A tool of an MCP server that fails says so in parts, like one that succeeds. */
function wordsOf(error: WireItem): string {
  const parts = recordsAt(error, "content").map((part) => textAt(part, "text"));
  return textAt(error, "message").trim() || textAt(error, "content") || parts.join("\n");
}
