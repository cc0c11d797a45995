import { InvalidArgumentError } from "commander";

/** Parses the id of a run, or the start of one. */
export function parseRunId(text: string): string {
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(text)) return text;
  throw new InvalidArgumentError("Use the id of a run, or at least its first 4 characters.");
}
