import type { StreamEvent } from "../evaluation-stream.ts";

/** Bytes of an event without its text. */
const EVENT_BYTES = 64;

/** Values of a bus event that are visited. The others count as much as the average of these. */
const MAX_VISITED = 256;

/** Estimates the memory of an event in bytes. The cost is limited, however large the event is. */
export function estimateSize(event: StreamEvent): number {
  switch (event.type) {
    case "bus":
      return EVENT_BYTES + estimateValue(event.event);
    case "restart":
      return EVENT_BYTES;
    default:
      return EVENT_BYTES + 2 * (event.delta?.length ?? 0);
  }
}

/** Estimates the memory of data: 2 bytes per character, 8 per other value. */
function estimateValue(root: unknown): number {
  const open: unknown[] = [root];
  let bytes = 0;
  let visited = 0;
  for (; open.length > 0 && visited < MAX_VISITED; visited++) {
    const value = open.pop();
    bytes += 8;
    if (typeof value === "string") bytes += 2 * value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else if (typeof value === "object" && value !== null) {
      const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
      for (const part of parts.slice(0, MAX_VISITED)) open.push(part);
      bytes += 8 * parts.length;
    }
  }
  return bytes + Math.ceil((bytes / visited) * open.length);
}
