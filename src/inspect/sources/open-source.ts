import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { readKeptBytes } from "../../files/kept/kept-bytes.ts";
import { parseSession } from "../../session/saved-session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { getSessionPaths, parseFileName } from "../../stores/session-file-name.ts";
import type { InspectorSource, SessionFeed } from "../inspector-source.ts";
import { checkSchema } from "./check-schema.ts";
import { findSessionPlace } from "./find-session-place.ts";
import type { DatabasePlace } from "./open-session-database.ts";
import { RecordFile } from "./record-file.ts";
import { toSavedRecords } from "./saved-records.ts";
import { SingleSource } from "./single-source.ts";
import { StoreSource } from "./store-source.ts";

/** Arguments of `wink inspect` that name sessions. */
export interface SourceRequest {
  /** A session id, the path of a file or a folder, or a PostgreSQL URL. @default everything in `store` */
  readonly target?: string | undefined;
  /** The store that has the session: a folder, a SQLite file, or a PostgreSQL URL. @default `target` is the store */
  readonly store?: string | undefined;
  /** The folder in which a workspace keeps its files, its `persistDir`. @default contents are not shown */
  readonly files?: string | undefined;
  /** Schema of a PostgreSQL database's tables. @default "wink" */
  readonly schema?: string | undefined;
}

/** Opens the sessions that a user names on the command line. Throws `InvalidOptionError` if it is none of the supported kinds. */
export async function openSource({
  target,
  store,
  files,
  schema,
}: SourceRequest): Promise<InspectorSource> {
  const place = store ?? target;
  if (place === undefined || place === "") {
    const rule = "must be a session, a file, a folder or a URL";
    throw new InvalidOptionError({ field: "SESSION", value: place, rule, remedy: REMEDY });
  }
  const field = store === undefined ? "SESSION" : "--store";
  const onlySession = store === undefined ? undefined : target;
  const readBytes = files === undefined ? undefined : createReader(files);
  const tables = checkSchema(schema);
  const source = await openPlace(place, { field, onlySession, readBytes, schema: tables });
  if (onlySession !== undefined && !(await source.open(onlySession))) {
    await source[Symbol.asyncDispose]();
    const rule = `must be a session in ${source.label}`;
    const remedy = "omit it to see all sessions of the store";
    throw new InvalidOptionError({ field: "SESSION", value: onlySession, rule, remedy });
  }
  return source;
}

const REMEDY =
  "pass a session file, a folder of sessions, a SQLite file or a postgres:// URL, or a session id together with --store";

interface PlaceOptions {
  /** The argument that names the place, for errors. */
  readonly field: string;
  readonly onlySession: string | undefined;
  readonly readBytes: SessionFeed["readBytes"] | undefined;
  readonly schema: string;
}

async function openPlace(place: string, options: PlaceOptions): Promise<InspectorSource> {
  const { field, onlySession, readBytes } = options;
  const found = await findSessionPlace(place);
  switch (found.kind) {
    case "postgres":
    case "fleet":
      return await openFleetSource(found, options);
    case "folder":
      return createFolderSource(found.path, { onlySession, readBytes });
    case "sqlite":
      return await openSqliteSource(found.path, { onlySession, readBytes });
    case "file":
      return await openFileSource(found, options);
    case "missing": {
      const { cause } = found;
      const rule = `must be an existing file or folder (${getErrorMessage(cause)})`;
      throw new InvalidOptionError({ field, value: place, rule, remedy: REMEDY, cause });
    }
  }
}

async function openFleetSource(
  place: DatabasePlace,
  { schema, onlySession, readBytes }: PlaceOptions,
): Promise<InspectorSource> {
  const { openSessionDatabase } = await import("./open-session-database.ts");
  const { FleetSource } = await import("./fleet-source.ts");
  const opened = await openSessionDatabase(place, schema);
  return new FleetSource({ ...opened, schema, onlySession, readBytes });
}

function createFolderSource(
  directory: string,
  { onlySession, readBytes }: Pick<PlaceOptions, "onlySession" | "readBytes">,
): StoreSource {
  const store = new JsonlSessionStore(directory, { onRepair: () => {} });
  const openFeed = (id: string) => new RecordFile(getSessionPaths(directory, id).file);
  return new StoreSource({ label: directory, store, onlySession, openFeed, readBytes });
}

async function openSqliteSource(
  path: string,
  { onlySession, readBytes }: Pick<PlaceOptions, "onlySession" | "readBytes">,
): Promise<StoreSource> {
  const { SqliteSessionStore } = await import("../../stores/sqlite/sqlite-session-store.ts");
  const store = new SqliteSessionStore(path);
  return new StoreSource({
    ...{ label: path, store, onlySession, readBytes },
    close: () => store.close(),
  });
}

async function openFileSource(
  { path, start }: { readonly path: string; readonly start: string },
  { field, readBytes }: PlaceOptions,
): Promise<InspectorSource> {
  const [line = ""] = start.split("\n", 1);
  const first = parseJson(line);
  if (first.ok && isPlainObject(first.value) && first.value["kind"] === "session") {
    const id = parseFileName(basename(path)) ?? basename(path);
    return new SingleSource({ label: path, id, feed: new RecordFile(path), readBytes });
  }
  return await openSavedSession(path, field);
}

async function openSavedSession(path: string, field: string): Promise<InspectorSource> {
  try {
    const saved = parseSession(await readFile(path, "utf8"));
    const records = toSavedRecords(saved);
    const feed: SessionFeed = {
      async *read(from) {
        yield* records.slice(from);
      },
      watch: () => ({ [Symbol.dispose]() {} }),
    };
    return new SingleSource({ label: path, id: saved.id, feed, readBytes: undefined });
  } catch (cause) {
    const rule = `must be a session file, a serialized session or a SQLite database (${getErrorMessage(cause)})`;
    throw new InvalidOptionError({ field, value: path, rule, remedy: REMEDY, cause });
  }
}

/** Reads contents from the folder in which a workspace keeps its files. */
function createReader(folder: string): NonNullable<SessionFeed["readBytes"]> {
  const path = resolve(folder);
  if (existsSync(join(path, "blobs"))) {
    return (digest, bytes) => readKeptBytes(path, { digest, bytes });
  }
  const rule = "must be the persistDir of a workspace: a folder that contains blobs";
  const remedy = "use the folder that you passed as persistDir";
  throw new InvalidOptionError({ field: "--files", value: folder, rule, remedy });
}
