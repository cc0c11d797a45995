import { Buffer } from "node:buffer";
import { findSessionPlace } from "../../inspect/sources/find-session-place.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { openSessionFile } from "../../stores/open-session-file.ts";
import { RecordLines } from "../../stores/record-lines.ts";
import { toSessionFileError } from "../../stores/session-file-errors.ts";
import { getSessionPaths } from "../../stores/session-file-name.ts";

/** The session whose lines are read. */
export interface StoredSessionPlace {
  /** The place of the store. */
  readonly place: string;
  readonly id: string;
}

/** Yields the records of a session as lines of JSON with their line breaks, byte for byte as they are stored. */
export async function* readLines(
  store: SessionStore,
  { place, id }: StoredSessionPlace,
): AsyncGenerator<Buffer> {
  const found = await findSessionPlace(place);
  if (found.kind === "folder") {
    yield* readFileLines(found.path, id);
    return;
  }
  // A database has the text that JSON.stringify wrote. Parsed and written again, it is the same.
  for await (const record of store.read(id)) yield Buffer.from(`${JSON.stringify(record)}\n`);
}

/** Yields the complete lines of a session's file. They are not parsed, so that a damaged session can be saved too. */
async function* readFileLines(folder: string, id: string): AsyncGenerator<Buffer> {
  const paths = getSessionPaths(folder, id);
  try {
    await using file = await openSessionFile(paths.file, "read");
    const lines = new RecordLines(file, (await file.stat()).size);
    for await (const line of lines) yield Buffer.concat([line, BREAK]);
  } catch (error) {
    throw toSessionFileError(error, paths, "read");
  }
}

const BREAK = Buffer.from("\n");
