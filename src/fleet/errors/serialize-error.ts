import { quoteValue } from "../../base/quote-value.ts";
import { copyJson, cutText, listData } from "./copy-json.ts";
import { findKnownClass } from "./known-errors.ts";
import type { StoredCause, StoredError } from "./stored-error.ts";

/**
 * Returns an error as JSON text, for {@link rebuildError} in another process: its name, message, fields, stack and
 * causes. Fields that are not JSON are omitted, and long texts are cut: the text has at most a few hundred
 * thousand characters. Never throws; any value can be passed.
 */
export function serializeError(error: unknown): string {
  try {
    return JSON.stringify(toStoredError(error, { depth: 0, count: { left: MAX_ERRORS } }));
  } catch {
    // A proxy or a getter threw.
    return JSON.stringify({ name: "Error", base: "Error", message: quoteValue(error) });
  }
}

/** How many causes are followed. */
const MAX_CAUSES = 5;
/** How many errors are kept altogether: causes, and the errors in `AggregateError`s. */
const MAX_ERRORS = 20;
/** The most characters of the error itself, and of each of the others. */
const OUTER_LIMITS = { message: 16_384, frames: 8_192, fields: 65_536 } as const;
const INNER_LIMITS = { message: 4_096, frames: 2_048, fields: 8_192 } as const;
const MAX_NAME = 200;

interface Place {
  readonly depth: number;
  /** Errors that may still be added. */
  readonly count: { left: number };
}

function toStoredError(error: unknown, place: Place): StoredError {
  place.count.left -= 1;
  const limits = place.depth === 0 ? OUTER_LIMITS : INNER_LIMITS;
  if (!(error instanceof Error)) {
    const message = typeof error === "string" ? error : quoteValue(error);
    return { name: "Error", base: "Error", message: cutText(message, limits.message) };
  }
  const inner = { ...place, depth: place.depth + 1 };
  const hasRoom = inner.depth <= MAX_CAUSES;
  const fields = listData(error).filter(([key]) => !OWN_KEYS.has(key));
  const { cause } = error;
  const isCause = (value: unknown) => hasRoom && value instanceof Error && value === cause;
  const data = fields.filter(([, value]) => !(value instanceof Error));
  return {
    name: cutText(String(error.name), MAX_NAME),
    base: findKnownClass(error),
    message: cutText(String(error.message), limits.message),
    frames: readFrames(error.stack, limits.frames),
    fields: copyFields(data, limits.fields),
    cause: hasRoom ? toStoredCause(cause, inner) : undefined,
    causeFields: fields.filter(([, value]) => isCause(value)).map(([key]) => key),
    errorFields: hasRoom
      ? Object.fromEntries(
          fields
            .filter(([, value]) => value instanceof Error && !isCause(value))
            .flatMap(([key, value]) => addIfRoom(value, inner).map((one) => [key, one])),
        )
      : undefined,
    errors:
      hasRoom && error instanceof AggregateError
        ? error.errors.flatMap((one: unknown) => addIfRoom(one, inner))
        : undefined,
  };
}

/** The fields of every error, which are stored separately. */
const OWN_KEYS: ReadonlySet<string> = new Set(["name", "message", "stack", "cause"]);

function copyFields(
  fields: readonly (readonly [string, unknown])[],
  left: number,
): StoredError["fields"] {
  const copy = copyJson(Object.fromEntries(fields), { left });
  return copy as StoredError["fields"]; // the copy of a record is a record
}

function toStoredCause(cause: unknown, place: Place): StoredCause | undefined {
  if (cause === undefined || place.count.left <= 0) return undefined;
  if (cause instanceof Error) return { error: toStoredError(cause, place) };
  const value = copyJson(cause, { left: INNER_LIMITS.fields });
  return { value: value === undefined ? quoteValue(cause) : value };
}

function addIfRoom(error: unknown, place: Place): readonly StoredError[] {
  return place.count.left > 0 ? [toStoredError(error, place)] : [];
}

/** Returns the lines of a stack that name places. The first lines repeat the message. */
function readFrames(stack: unknown, length: number): string | undefined {
  if (typeof stack !== "string") return undefined;
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return lines.length === 0 ? undefined : cutText(lines.join("\n"), length);
}
