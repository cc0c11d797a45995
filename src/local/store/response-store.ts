import type { Database } from "./database.ts";
import { numberIn, type Row, textIn } from "./row.ts";

/** A response as it is kept. */
export interface StoredResponse {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** As the client got it. */
  readonly response: object;
  /** The whole conversation up to and with this response: what one that names it goes on from. */
  readonly items: readonly object[];
  /** Whether clients may ask for it: its request did not say `store: false`. */
  readonly stored: boolean;
}

const TABLES = [
  `CREATE TABLE responses (
     id TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     response TEXT NOT NULL,
     items TEXT NOT NULL,
     stored INTEGER NOT NULL
   ) STRICT`,
  // The first stored conversation that has an item: it is found by its id however many there are.
  `CREATE TABLE response_items (
     id TEXT PRIMARY KEY,
     response_id TEXT NOT NULL REFERENCES responses (id) ON DELETE CASCADE
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX response_items_of ON response_items (response_id)`,
];

/** Keeps responses, so that they can be asked for and gone on from. */
export class ResponseStore {
  readonly #put;
  readonly #get;
  readonly #delete;
  readonly #database: Database;
  readonly #name;
  readonly #holding;

  constructor(database: Database) {
    this.#database = database;
    database.tables("responses", TABLES);
    this.#put = database.prepare(
      "INSERT OR REPLACE INTO responses (id, created_at, response, items, stored) VALUES (?, ?, ?, ?, ?)",
    );
    this.#get = database.prepare("SELECT * FROM responses WHERE id = ?");
    this.#delete = database.prepare("DELETE FROM responses WHERE id = ?");
    this.#name = database.prepare(
      "INSERT OR IGNORE INTO response_items (id, response_id) VALUES (?, ?)",
    );
    this.#holding = database.prepare(
      "SELECT * FROM responses WHERE id = (SELECT response_id FROM response_items WHERE id = ?)",
    );
  }

  /** Keeps it, in place of one with the same id. */
  put({ id, createdAt, response, items, stored }: StoredResponse): void {
    const texts = [JSON.stringify(response), JSON.stringify(items)] as const;
    this.#database.transaction(() => {
      this.#put.run(id, createdAt, ...texts, stored ? 1 : 0);
      if (!stored) return;
      for (const item of items) {
        if ("id" in item && typeof item.id === "string") this.#name.run(item.id, id);
      }
    });
  }

  /** `undefined` if there is none. */
  get(id: string): StoredResponse | undefined {
    const row = this.#get.get(id);
    return row && toResponse(row);
  }

  /** An item of a stored conversation by its id; `null` if none that is stored has it. */
  item(id: string): Readonly<Record<string, unknown>> | null {
    const row = this.#holding.get(id);
    const items = row ? toResponse(row).items : [];
    const found = items.find((item) => "id" in item && item.id === id);
    return found ? { ...found } : null;
  }

  /** Whether there was one. */
  delete(id: string): boolean {
    return this.#delete.run(id).changes > 0;
  }
}

function toResponse(row: Row): StoredResponse {
  return {
    id: textIn(row, "id"),
    createdAt: numberIn(row, "created_at"),
    response: JSON.parse(textIn(row, "response")),
    items: JSON.parse(textIn(row, "items")),
    stored: numberIn(row, "stored") === 1,
  };
}
