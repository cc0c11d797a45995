import { escapeControls } from "./escape-controls.ts";

/** Converts any text to one line without control characters, at most `maxLength` characters long. */
export function toLine(text: string, maxLength?: number): string {
  return cutLine(escapeControls(text.trim().replace(/\s+/g, " ")), maxLength);
}

/** Formats a JSON value as one line without control characters, at most `maxLength` characters long. */
export function toJsonLine(value: unknown, maxLength?: number): string {
  return cutLine(escapeControls(JSON.stringify(value) ?? ""), maxLength);
}

/** Does not cut a character in half. */
function cutLine(line: string, maxLength = line.length): string {
  if (line.length <= maxLength) return line;
  return `${line.slice(0, Math.max(0, maxLength - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}
