import { isPlainObject } from "../../base/freeze.ts";
import { textAt, textsAt } from "../../base/reading.ts";
import type { Given } from "../given.ts";

/** How much of what a tool said an event keeps. */
const LONGEST = 10_000;

/** What one of the SDK's tools said, as far as its answer has words for it. */
export function nativeMessage(name: string, input: Given, response: unknown): string {
  if (typeof response === "string") return cut(response);
  return cut(wordsOf(name, input, isPlainObject(response) ? response : {}));
}

/** Why a call failed, without what the SDK puts around it for the model. */
export function nativeFailure(error: string): string {
  const [, inner] = /^<tool_use_error>(?:Error: )?(.*)<\/tool_use_error>$/s.exec(error) ?? [];
  return cut((inner ?? error).replace(/^PreToolUse:\w+ hook error: /, "") || "It failed");
}

function wordsOf(name: string, input: Given, response: Given): string {
  const path = textAt(input, "file_path");
  switch (name) {
    case "Bash":
      return printed(response);
    case "Read":
      return `Read ${path}`;
    case "Edit":
      return `Edited ${path}`;
    case "Write":
      return `${response["type"] === "update" ? "Overwrote" : "Created"} ${path}`;
    default:
      return (
        textAt(response, "content") || textsAt(response, "filenames").join("\n") || "Nothing found"
      );
  }
}

/** The SDK gives both streams as one, and uses `stderr` for notes of its own. */
function printed(response: Given): string {
  const texts = [textAt(response, "stdout"), textAt(response, "stderr")];
  const words = texts.map((text) => text.replace(/^\n+|\n+$/g, "")).filter((text) => text !== "");
  const isInterrupted = response["interrupted"] === true;
  if (isInterrupted) words.push("It was interrupted");
  return words.join("\n") || "Ran and printed nothing";
}

function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST).toWellFormed()}… (${text.length - LONGEST} more characters)`;
}
