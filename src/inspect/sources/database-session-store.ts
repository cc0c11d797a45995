import type { FleetDatabase } from "../../fleet/database/fleet-database.ts";
import { isOver } from "../../fleet/run.ts";
import { type Row, RUN_COLUMNS, toRun } from "../../fleet/tables/run-row.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { PostgresSessionStore } from "../../stores/postgres/postgres-session-store.ts";
import { hasTable } from "./fleet-source.ts";

/** The database of a {@link DatabaseSessionStore}. */
export interface DatabaseSessionStoreOptions {
  /** Closed together with the store. */
  readonly database: FleetDatabase;
  /** Schema of the tables. */
  readonly schema: string;
}

/** The sessions of a PostgreSQL database or of a fleet. A fleet's run that has not ended keeps its session. */
export class DatabaseSessionStore extends PostgresSessionStore implements AsyncDisposable {
  readonly #options: DatabaseSessionStoreOptions;

  constructor(options: DatabaseSessionStoreOptions) {
    super({ sql: options.database, schema: options.schema });
    this.#options = options;
  }

  /** Deletes a session. Throws `SessionStoreError` while another process holds it, or if a run needs it. */
  override async delete(id: string): Promise<void> {
    await this.#checkRun(id);
    await super.delete(id);
  }

  /** Waits for pending writes, and closes the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.endClaims();
    } finally {
      await this.#options.database.close();
    }
  }

  /** A waiting or parked run has no claim, but it continues from its session. */
  async #checkRun(id: string): Promise<void> {
    const { database, schema } = this.#options;
    if (!UUID.test(id) || !(await hasTable(database, schema, "run"))) return;
    const statement = `select ${RUN_COLUMNS} from "${schema}".run where id = $1`;
    const { rows } = await database.query(statement, [id]);
    for (const row of rows as readonly Row[]) {
      const { state, loop } = toRun(row);
      if (isOver(state)) continue;
      const what = `Session ${id} belongs to a run of the loop ${JSON.stringify(loop)} that is ${state}`;
      throw new SessionStoreError(`${what}. Cancel it first: wink fleet cancel ${id}.`, {
        sessionId: id,
      });
    }
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
