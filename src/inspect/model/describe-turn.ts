import { readRecords, readString, type UnknownRecord } from "../../base/json.ts";
import type { FileChange } from "../file-change.ts";
import { toPreview } from "./preview.ts";

/** Shortens the text of a turn, or lists its calls if it has no text. */
export function describeTurn(event: UnknownRecord): string {
  const text = toPreview(readString(event, "text"));
  if (text !== "") return text;
  const calls = ["hostedCalls", "delegatedCalls", "toolCalls"].flatMap((key) =>
    readRecords(event, key),
  );
  const names = calls.slice(0, 20).map((call) => readString(call, "name"));
  return names.length > 0 ? toPreview(`calls ${names.join(", ")}`) : "";
}

/** Lists the first changed files. */
export function describeChanges(changes: readonly FileChange[]): string {
  if (changes.length === 0) return "no changes";
  return changes
    .slice(0, 6)
    .map(({ path, change }) => `${path} ${change}`)
    .join(", ");
}
