import { isPlainObject } from "../../base/freeze.ts";
import { matchesMasked } from "./matches-masked.ts";

/** Two values that differ at the same place. `undefined` means that there is none. */
export interface ValueDifference {
  /** The place in the request, such as `input[1].content`. */
  readonly place: string;
  readonly recorded: unknown;
  readonly sent: unknown;
}

const MAX_DIFFERENCES = 50;

/** Finds where JSON differs, in the order of the recorded fields: at most 50 places. */
export function findDifferences(recorded: unknown, sent: unknown): readonly ValueDifference[] {
  const found: ValueDifference[] = [];
  compare({ place: "", recorded, sent }, found);
  return found;
}

function compare({ place, recorded, sent }: ValueDifference, found: ValueDifference[]): void {
  if (found.length >= MAX_DIFFERENCES || isEqual(recorded, sent)) return;
  if (Array.isArray(recorded) && Array.isArray(sent)) {
    for (let index = 0; index < Math.max(recorded.length, sent.length); index++) {
      const part = { place: `${place}[${index}]`, recorded: recorded[index], sent: sent[index] };
      compare(part, found);
    }
    return;
  }
  if (isPlainObject(recorded) && isPlainObject(sent)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(sent)])) {
      const part = { recorded: recorded[key], sent: sent[key] };
      compare({ place: appendKey(place, key), ...part }, found);
    }
    return;
  }
  found.push({ place: place === "" ? "the request" : place, recorded, sent });
}

function isEqual(recorded: unknown, sent: unknown): boolean {
  if (typeof recorded !== "string" || typeof sent !== "string") return recorded === sent;
  return matchesMasked(recorded, sent);
}

/** The fields of a JSON body are named as the API names them: `input`, not `body.json.input`. */
function appendKey(place: string, key: string): string {
  if (place === "body" && key === "json") return "";
  if (!/^[\w-]+$/.test(key)) return `${place}[${JSON.stringify(key)}]`;
  return place === "" ? key : `${place}.${key}`;
}
