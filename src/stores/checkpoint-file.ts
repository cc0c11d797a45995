import { rename } from "node:fs/promises";
import { PathRefusal } from "../host/path-refusal.ts";
import { openSessionFile } from "./open-session-file.ts";
import { MAX_RECORD_BYTES, parseLine } from "./record-lines.ts";
import { isMissing } from "./session-file-errors.ts";
import type { SessionPaths } from "./session-file-name.ts";

/** Reads a session's checkpoint; `null` if it has none. Throws `PathRefusal` if the file is damaged. */
export async function readCheckpointFile({ checkpoint }: SessionPaths): Promise<object | null> {
  const it = `its checkpoint ${checkpoint}`;
  try {
    await using file = await openSessionFile(checkpoint, "read", it);
    const { size } = await file.stat();
    if (size > MAX_RECORD_BYTES) throw new PathRefusal(`${it} has ${size} bytes`, DELETE);
    const parsed = parseLine(await file.readFile());
    if (typeof parsed === "string") throw new PathRefusal(`${it}: ${parsed}`, DELETE);
    return parsed.record;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Replaces a session's checkpoint: a crash leaves the old one or the new one. */
export async function writeCheckpointFile(
  { checkpoint, newCheckpoint }: SessionPaths,
  text: Buffer,
): Promise<void> {
  {
    await using file = await openSessionFile(newCheckpoint, "update", `its file ${newCheckpoint}`);
    await file.truncate(0);
    await file.writeFile(text);
    await file.datasync();
  }
  await rename(newCheckpoint, checkpoint);
}

const DELETE = "Delete that file: the session is then read from its records.";
