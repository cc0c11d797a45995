import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import type { LockHolder } from "../host/file-lock.ts";
import { describeProcess, isOwner } from "./claim-owner.ts";
import type { SessionHolder } from "./session-file-errors.ts";

/** Describes the holder of a session's lock from its file's content, or else from its name and time. */
export async function readHolder({
  path,
  pid,
  host,
}: Pick<LockHolder, "path" | "pid" | "host">): Promise<SessionHolder> {
  let since = new Date(0).toISOString();
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    since = (await file.stat()).mtime.toISOString();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_NOTE_BYTES));
    const note = parseJson(buffer.toString("utf8", 0, bytesRead));
    const { owner, since: noted } = note.ok && isPlainObject(note.value) ? note.value : {};
    if (isOwner(owner) && isTime(noted)) return { owner, since: noted, path };
  } catch {
    // It has just been released, or it was written by an earlier release.
  }
  return { owner: describeProcess(pid, decodeHost(host)), since, path };
}

/** Decodes a host name. Any text can be in a file's name. */
function decodeHost(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    return host;
  }
}

const MAX_NOTE_BYTES = 4096;

function isTime(text: unknown): text is string {
  return typeof text === "string" && /^[\dTZ:.-]{1,30}$/.test(text);
}
