import type { FleetDatabase } from "../../fleet/database/fleet-database.ts";
import type { Run } from "../../fleet/run.ts";
import { type Row, RUN_COLUMNS, toRun } from "../../fleet/tables/run-row.ts";
import { PostgresBlobStore } from "../../fleet/workspace/postgres-blob-store.ts";
import { PostgresSessionStore } from "../../stores/postgres/postgres-session-store.ts";
import type { InspectorSource, SessionFeed } from "../inspector-source.ts";
import type { ListedSession, SessionList } from "../session-list.ts";
import { addBytes, compareSessions, MAX_LISTED, StoreSource } from "./store-source.ts";

/** The database of a {@link FleetSource}. */
export interface FleetSourceOptions {
  readonly label: string;
  readonly database: FleetDatabase;
  /** Schema of the tables. */
  readonly schema: string;
  /** The session that the page opens at once. @default the page starts with the list */
  readonly onlySession?: string | undefined;
  /** Reads the bytes of workspace files that the database does not have. @default they are not known */
  readonly readBytes?: SessionFeed["readBytes"] | undefined;
}

/** The sessions of a PostgreSQL database, with the runs of a fleet if it has one. Only reads. */
export class FleetSource implements InspectorSource {
  readonly label: string;
  readonly onlySession: string | null;
  readonly #options: FleetSourceOptions;
  readonly #sessions: StoreSource;

  constructor(options: FleetSourceOptions) {
    const { label, database, schema, onlySession } = options;
    this.label = label;
    this.onlySession = onlySession ?? null;
    this.#options = options;
    const store = new PostgresSessionStore({ sql: database, schema });
    this.#sessions = new StoreSource({ label, store, close: () => database.close() });
  }

  async list(): Promise<SessionList> {
    const list = await this.#sessions.list();
    const runs = new Map((await this.#readRuns()).map((run) => [run.id, run]));
    const stored = list.sessions.map((session) => addRun(session, runs.get(session.id)));
    const known = new Set(list.sessions.map(({ id }) => id));
    const waiting = [...runs.values()].filter(({ id }) => !known.has(id)).map(toListed);
    return { ...list, sessions: [...stored, ...waiting].sort(compareSessions) };
  }

  async open(id: string): Promise<SessionFeed | null> {
    const feed = await this.#sessions.open(id);
    if (!feed) return null;
    const { database, schema, readBytes } = this.#options;
    if (!(await this.#hasTable("blob"))) return readBytes ? addBytes(feed, readBytes) : feed;
    const blobs = new PostgresBlobStore({ sql: database, schema, sessionId: id });
    return addBytes(feed, async (sha256, bytes) => {
      return (await blobs.get(sha256)) ?? (await readBytes?.(sha256, bytes)) ?? null;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions[Symbol.asyncDispose]();
  }

  async #readRuns(): Promise<readonly Run[]> {
    if (!(await this.#hasTable("run"))) return [];
    const { database, schema } = this.#options;
    const { rows } = await database.query(
      `select ${RUN_COLUMNS} from "${schema}".run order by run.created_at desc limit ${MAX_LISTED}`,
    );
    return (rows as readonly Row[]).map(toRun);
  }

  async #hasTable(name: string): Promise<boolean> {
    const { database, schema } = this.#options;
    return await hasTable(database, schema, name);
  }
}

/** Returns whether a schema has a table. */
export async function hasTable(
  database: FleetDatabase,
  schema: string,
  name: string,
): Promise<boolean> {
  const { rows } = await database.query("select to_regclass($1) is not null as found", [
    `"${schema}".${name}`,
  ]);
  return (rows as readonly Row[])[0]?.["found"] === true;
}

function addRun(session: ListedSession, run: Run | undefined): ListedSession {
  return run ? { ...toListed(run), createdAt: session.createdAt ?? run.createdAt } : session;
}

function toListed(run: Run): ListedSession {
  const { id, createdAt, loop, state, attempt, lost, error, approvals, endedAt } = run;
  return {
    id,
    createdAt,
    run: {
      ...{ loop, state, attempt, lost, endedAt, approvals: approvals.length },
      error: error && `${error.name}: ${error.message}`.slice(0, 500),
    },
  };
}
