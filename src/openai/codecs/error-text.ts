import { isPlainObject } from "../../base/freeze.ts";
import { numberAt, recordsAt, textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type { WireItem } from "../wire.ts";

/** Formats an item's `error` as one text with its code; `null` if there is none. */
export function toErrorText(error: unknown): string | null {
  if (error === undefined || error === null || error === "") return null;
  if (typeof error === "string") return error;
  if (!isPlainObject(error)) return show(error);
  const code = numberAt(error, "code") ?? textAt(error, "code");
  const kind = [textAt(error, "type"), code].filter((part) => part !== "").join(" ");
  const text = [kind, readErrorMessage(error)].filter((part) => part !== "").join(": ");
  return text === "" ? "an error without a message" : text;
}

/** Reads the error's message. A failed MCP tool returns it as content parts, like an output. */
function readErrorMessage(error: WireItem): string {
  const parts = recordsAt(error, "content").map((part) => textAt(part, "text"));
  return textAt(error, "message").trim() || textAt(error, "content") || parts.join("\n");
}
