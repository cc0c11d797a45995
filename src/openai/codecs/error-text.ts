import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecords, readString } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { WireItem } from "../wire.ts";

/** Formats an item's `error` as one text with its code; `null` if there is none. */
export function toErrorText(error: unknown): string | null {
  if (error === undefined || error === null || error === "") return null;
  if (typeof error === "string") return error;
  if (!isPlainObject(error)) return quoteValue(error);
  const code = readNumber(error, "code") ?? readString(error, "code");
  const kind = [readString(error, "type"), code].filter((part) => part !== "").join(" ");
  const text = [kind, readErrorMessage(error)].filter((part) => part !== "").join(": ");
  return text === "" ? "an error without a message" : text;
}

/** Reads the error's message. A failed MCP tool returns it as content parts, like an output. */
function readErrorMessage(error: WireItem): string {
  const parts = readRecords(error, "content").map((part) => readString(part, "text"));
  return readString(error, "message").trim() || readString(error, "content") || parts.join("\n");
}
