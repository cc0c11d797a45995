import { readNumber, readRecord, readString, type UnknownRecord } from "../../base/json.ts";
import { toPreview } from "./preview.ts";

/** Reads when an event was published, in milliseconds since 1970. */
export function readTime(event: UnknownRecord): number | null {
  const time = Date.parse(readString(event, "createdAt"));
  return Number.isNaN(time) ? null : time;
}

/** Reads a duration in milliseconds. */
export function readDuration(event: UnknownRecord): number | null {
  const ms = readNumber(event, "durationMs");
  return ms !== null && ms >= 0 ? ms : null;
}

/** Reads the number of a turn. Returns the number after `last` if there is none. */
export function readTurn(event: UnknownRecord, last: number): number {
  const turn = readNumber(event, "turn");
  return turn !== null && Number.isSafeInteger(turn) && turn > 0 ? turn : last + 1;
}

/** Reads the tags of a session's first record. */
export function readTags(header: UnknownRecord): Readonly<Record<string, string>> {
  const tags = Object.entries(readRecord(header, "tags")).slice(0, 50);
  return Object.fromEntries(
    tags.map(([name, tag]) => [toPreview(name, 60), toPreview(String(tag))]),
  );
}
