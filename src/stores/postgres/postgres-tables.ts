import type { RecordWriter } from "../../session/session-store.ts";
import type {
  AppendRefusal,
  ClaimRequest,
  HeldClaim,
  MadeClaim,
  RecordRun,
  SessionTables,
  StoredSession,
} from "../sql/session-tables.ts";
import { createMigration, SCHEMA_VERSION } from "./migration.ts";
import { createNewerSchemaError, toPostgresError } from "./postgres-errors.ts";
import type { SqlClient } from "./sql-client.ts";
import { createStatements, type Statements } from "./statements.ts";

/** Options of {@link PostgresTables}. */
export interface PostgresTablesOptions {
  readonly sql: SqlClient;
  /** Name of the schema, not quoted. */
  readonly schema: string;
  readonly leaseMs: number;
}

/** Sessions in the tables of a PostgreSQL database. */
export class PostgresTables implements SessionTables {
  readonly #sql: SqlClient;
  readonly #schema: string;
  readonly #leaseMs: number;
  readonly #statements: Statements;
  #ready: Promise<void> | null = null;

  constructor({ sql, schema, leaseMs }: PostgresTablesOptions) {
    this.#sql = sql;
    this.#schema = schema;
    this.#leaseMs = leaseMs;
    this.#statements = createStatements(`"${schema}"`);
  }

  async migrate(): Promise<void> {
    await this.#query(createMigration(`"${this.#schema}"`));
    await this.#prepare();
  }

  async append(runs: readonly RecordRun[]): Promise<readonly (AppendRefusal | null)[]> {
    const refusals: (AppendRefusal | null)[] = [];
    for (const run of runs) refusals.push(await this.#appendRun(run));
    return refusals;
  }

  async find(id: string): Promise<StoredSession | null> {
    const row = await this.#findRow(id);
    return row && row.next > 0 ? { id, key: row.key, records: row.next } : null;
  }

  async readPage({ key }: StoredSession, from: number, to: number): Promise<readonly string[]> {
    const rows = await this.#run("readPage", key, from, to, PAGE_BYTES);
    return rows.map(({ record }) => String(record));
  }

  async list(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const rows = await this.#run("list", ids.at(-1) ?? "", PAGE_IDS);
      ids.push(...rows.map(({ id }) => String(id)));
      if (rows.length < PAGE_IDS) return ids;
    }
  }

  async remove(id: string, gone: number | null): Promise<HeldClaim | null> {
    if ((await this.#run("remove", id, gone)).length > 0) return null;
    return toHeldClaim(await this.#findRow(id));
  }

  async claim(id: string, by: ClaimRequest, gone: number | null): Promise<MadeClaim | HeldClaim> {
    for (;;) {
      const { owner, holder } = by;
      const [made] = await this.#run("claim", id, owner, holder, this.#leaseMs, gone);
      if (made) {
        const { fence, since, next } = made;
        return { fence: Number(fence), since: String(since), records: Number(next) };
      }
      const held = toHeldClaim(await this.#findRow(id));
      if (held) return held; // else it has just been released or deleted
    }
  }

  async renew(id: string, fence: number): Promise<boolean> {
    return (await this.#run("renew", id, fence, this.#leaseMs)).length > 0;
  }

  async release(id: string, fence: number): Promise<void> {
    await this.#run("release", id, fence);
  }

  async readCheckpoint(id: string): Promise<string | null> {
    const [row] = await this.#run("readCheckpoint", id);
    return row ? String(row["checkpoint"]) : null;
  }

  async writeCheckpoint(
    id: string,
    text: string,
    by?: RecordWriter,
  ): Promise<AppendRefusal | null> {
    const { fence = null, position = null } = by ?? {};
    const rows = await this.#run("writeCheckpoint", id, fence, position, text);
    return rows.length > 0 ? null : await this.#explain(id, by);
  }

  async #appendRun({ id, texts, by }: RecordRun): Promise<AppendRefusal | null> {
    const { fence = null, position = null } = by ?? {};
    const append = () => this.#run("append", id, fence, position, this.#leaseMs, texts);
    if ((await append()).length > 0) return null;
    if (fence === null && !position && !(await this.#findRow(id))) {
      await this.#run("create", id); // the first record
      if ((await append()).length > 0) return null;
    }
    return await this.#explain(id, by);
  }

  /** Finds out why a write was refused. */
  async #explain(id: string, by: RecordWriter | undefined): Promise<AppendRefusal> {
    const row = await this.#findRow(id);
    const isRefused = by?.fence === undefined ? row?.isHeld : by.fence !== row?.fence;
    return row && isRefused ? row : "outdated";
  }

  async #findRow(id: string): Promise<SessionRow | null> {
    const [row] = await this.#run("find", id);
    if (!row) return null;
    return {
      key: Number(row["key"]),
      next: Number(row["next"]),
      fence: Number(row["fence"]),
      owner: String(row["owner"]),
      since: String(row["since"]),
      holder: String(row["holder"]),
      isHeld: row["held"] === true,
    };
  }

  async #run(name: keyof Statements, ...params: unknown[]): Promise<readonly Row[]> {
    this.#ready ??= this.#prepare();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = null; // the next statement tries again
      throw error;
    }
    return await this.#query(this.#statements[name], params);
  }

  /** Throws if the tables are missing or newer than this release. */
  async #prepare(): Promise<void> {
    const [row] = await this.#query(this.#statements.version);
    const version = Number(row?.["version"]);
    if (version > SCHEMA_VERSION) throw createNewerSchemaError(this.#schema, version);
  }

  async #query(text: string, params: unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#sql.query(text, params)).rows as readonly Row[];
    } catch (error) {
      throw toPostgresError(error, this.#schema);
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

interface SessionRow {
  readonly key: number;
  readonly next: number;
  readonly fence: number;
  readonly owner: string;
  readonly since: string;
  readonly holder: string;
  /** Whether the claim was not released and its lease has not run out. */
  readonly isHeld: boolean;
}

function toHeldClaim(row: SessionRow | null): HeldClaim | null {
  if (!row?.isHeld) return null;
  const { fence, owner, since, holder } = row;
  return { heldFence: fence, owner, since, holder };
}

const PAGE_BYTES = 1024 ** 2;
const PAGE_IDS = 10_000;
