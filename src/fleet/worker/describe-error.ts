import { rebuildError } from "../errors/rebuild-error.ts";
import { serializeError } from "../errors/serialize-error.ts";
import type { RunFailure } from "../run.ts";
import type { AttemptEnd } from "../tables/attempt-table.ts";

/** Returns an error as it is stored: as a whole for `Fleet.result`, and its name and message for lists. */
export function describeError(error: unknown): Pick<AttemptEnd, "error" | "failure"> {
  const text = serializeError(error);
  return { error: text, failure: JSON.stringify(readFailure(text)) };
}

/** Returns the name and the message of an error, as lists and events have them. */
export function describeFailure(error: unknown): RunFailure {
  return readFailure(serializeError(error));
}

function readFailure(text: string): RunFailure {
  const { name, message } = rebuildError(text);
  return { name, message: message.slice(0, 2_000) };
}
