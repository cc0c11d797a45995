import type { Clock } from "../../base/clock.ts";
import type { RecordWriter } from "../../session/session-store.ts";
import { MAX_LEASE_MS } from "../sql/check-lease.ts";
import type {
  AppendRefusal,
  ClaimRequest,
  HeldClaim,
  MadeClaim,
  RecordRun,
  SessionTables,
  StoredSession,
} from "../sql/session-tables.ts";
import type { Prepare, SqliteFile } from "./sqlite-file.ts";

/** Options of {@link SqliteTables}. */
export interface SqliteTablesOptions {
  readonly file: SqliteFile;
  readonly clock: Clock;
  readonly leaseMs: number;
}

/** Sessions in the tables of a SQLite database. */
export class SqliteTables implements SessionTables {
  readonly #file: SqliteFile;
  readonly #clock: Clock;
  readonly #leaseMs: number;

  constructor({ file, clock, leaseMs }: SqliteTablesOptions) {
    this.#file = file;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  async append(runs: readonly RecordRun[]): Promise<readonly (AppendRefusal | null)[]> {
    return await this.#file.write((prepare) => runs.map((run) => this.#appendRun(prepare, run)));
  }

  async find(id: string): Promise<StoredSession | null> {
    const row = await this.#file.read((prepare) => findRow(prepare, id), null);
    return row && row.next > 0 ? { id, key: row.key, records: row.next } : null;
  }

  async readPage({ key }: StoredSession, from: number, to: number): Promise<readonly string[]> {
    return await this.#file.read((prepare) => {
      const sql = "SELECT record FROM record WHERE session = ? AND n >= ? AND n < ? ORDER BY n";
      const texts: string[] = [];
      let length = 0;
      for (const { record } of prepare(sql).iterate(key, from, to)) {
        const text = String(record);
        texts.push(text);
        length += text.length;
        if (length > PAGE_LENGTH) break;
      }
      return texts;
    }, []);
  }

  async list(): Promise<string[]> {
    const sql = "SELECT id FROM session WHERE next > 0 ORDER BY id";
    return await this.#file.read(
      (prepare) =>
        prepare(sql)
          .all()
          .map(({ id }) => String(id)),
      [],
    );
  }

  async remove(id: string, gone: number | null): Promise<HeldClaim | null> {
    const isThere = await this.#file.read((prepare) => findRow(prepare, id) !== null, false);
    if (!isThere) return null;
    return await this.#file.write((prepare) => {
      const row = findRow(prepare, id);
      if (row && this.#isHeld(row, gone)) return toHeldClaim(row);
      prepare("DELETE FROM session WHERE id = ?").run(id);
      return null;
    });
  }

  async claim(id: string, by: ClaimRequest, gone: number | null): Promise<MadeClaim | HeldClaim> {
    return await this.#file.write((prepare) => {
      const now = this.#clock.now();
      const row = findRow(prepare, id);
      if (row && this.#isHeld(row, gone)) return toHeldClaim(row);
      const last = prepare("UPDATE fence SET last = last + 1 RETURNING last").get()?.["last"];
      const fence = Number(last);
      const since = new Date(now).toISOString();
      prepare(CLAIM).run(id, fence, by.owner, since, by.holder, now + this.#leaseMs);
      return { fence, since, records: row?.next ?? 0 };
    });
  }

  async renew(id: string, fence: number): Promise<boolean> {
    const sql =
      "UPDATE session SET lease_until = ? WHERE id = ? AND fence = ? AND holder IS NOT NULL";
    const until = this.#clock.now() + this.#leaseMs;
    const { changes } = await this.#file.write((prepare) => prepare(sql).run(until, id, fence));
    return Number(changes) > 0;
  }

  async release(id: string, fence: number): Promise<void> {
    await this.#file.write((prepare) => {
      prepare("DELETE FROM session WHERE id = ? AND fence = ? AND next = 0").run(id, fence);
      prepare(RELEASE).run(id, fence);
    });
  }

  async readCheckpoint(id: string): Promise<string | null> {
    const sql =
      "SELECT checkpoint FROM checkpoint JOIN session ON session.key = checkpoint.session WHERE id = ?";
    const row = await this.#file.read((prepare) => prepare(sql).get(id), undefined);
    return row ? String(row["checkpoint"]) : null;
  }

  async writeCheckpoint(
    id: string,
    text: string,
    by?: RecordWriter,
  ): Promise<AppendRefusal | null> {
    return await this.#file.write((prepare) => {
      const row = findRow(prepare, id);
      if (!row || (by && by.position > row.next)) return "outdated";
      if (this.#isRefused(row, by)) return row;
      prepare("INSERT OR REPLACE INTO checkpoint VALUES (?, ?)").run(row.key, text);
      return null;
    });
  }

  #appendRun(prepare: Prepare, { id, texts, by }: RecordRun): AppendRefusal | null {
    const row = findRow(prepare, id) ?? this.#create(prepare, id, by);
    if (!row) return "outdated";
    if (this.#isRefused(row, by)) return row;
    if (by && by.position !== row.next) return "outdated";
    const insert = prepare("INSERT INTO record VALUES (?, ?, ?)");
    for (const [index, text] of texts.entries()) insert.run(row.key, row.next + index, text);
    const until = by?.fence === undefined ? row.leaseUntil : this.#clock.now() + this.#leaseMs;
    prepare("UPDATE session SET next = ?, lease_until = ? WHERE key = ?").run(
      row.next + texts.length,
      until,
      row.key,
    );
    return null;
  }

  /** Whether a later claim was made, or the session is held and the writer has no claim. */
  #isRefused(row: SessionRow, by: RecordWriter | undefined): boolean {
    return by?.fence === undefined ? this.#isHeld(row, null) : by.fence !== row.fence;
  }

  #isHeld({ holder, leaseUntil, fence }: SessionRow, gone: number | null): boolean {
    const left = leaseUntil - this.#clock.now();
    return holder !== null && left > 0 && left <= MAX_LEASE_MS && fence !== gone;
  }

  /** Creates a session for its first record. Returns `null` if the writer expects an existing one. */
  #create(prepare: Prepare, id: string, by: RecordWriter | undefined): SessionRow | null {
    if (by && (by.fence !== undefined || by.position > 0)) return null;
    prepare("INSERT INTO session (id) VALUES (?)").run(id);
    return findRow(prepare, id);
  }
}

/** Pages are read synchronously: this bounds their time and memory. */
const PAGE_LENGTH = 1024 ** 2;

const CLAIM = `INSERT INTO session (id, fence, owner, since, holder, lease_until) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, since = excluded.since,
  holder = excluded.holder, lease_until = excluded.lease_until`;
const RELEASE = "UPDATE session SET holder = NULL, lease_until = NULL WHERE id = ? AND fence = ?";
const FIND = "SELECT key, next, fence, owner, since, holder, lease_until FROM session WHERE id = ?";

interface SessionRow {
  readonly key: number;
  readonly next: number;
  readonly fence: number;
  readonly owner: string;
  readonly since: string;
  readonly holder: string | null;
  readonly leaseUntil: number;
}

function findRow(prepare: Prepare, id: string): SessionRow | null {
  const row = prepare(FIND).get(id);
  if (!row) return null;
  return {
    key: Number(row["key"]),
    next: Number(row["next"]),
    fence: Number(row["fence"]),
    owner: String(row["owner"]),
    since: String(row["since"]),
    holder: row["holder"] === null ? null : String(row["holder"]),
    leaseUntil: Number(row["lease_until"]),
  };
}

function toHeldClaim({ fence, owner, since, holder }: SessionRow): HeldClaim {
  return { heldFence: fence, owner, since, holder: String(holder) };
}
