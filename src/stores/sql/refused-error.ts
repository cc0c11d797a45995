import { type RecordWriter, SessionStoreError } from "../../session/session-store.ts";
import { createHeldError, createOutdatedError } from "../session-file-errors.ts";
import type { AppendRefusal } from "./session-tables.ts";

/** Returns the error for a record or a checkpoint that was refused. */
export function createRefusedError(
  id: string,
  refusal: AppendRefusal,
  by: RecordWriter | undefined,
): SessionStoreError {
  if (refusal === "outdated") return createOutdatedError(id);
  const { owner, since } = refusal;
  if (by?.fence === undefined) return createHeldError(id, { owner, since });
  const what = `Session ${JSON.stringify(id)} was claimed by ${owner} at ${since}, after this writer`;
  const remedy = "Reopen it with Session.open and discard the old object.";
  return new SessionStoreError(`${what}. ${remedy}`, { sessionId: id, owner, since });
}
