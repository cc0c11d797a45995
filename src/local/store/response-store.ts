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
];

/** Keeps responses, so that they can be asked for and gone on from. */
export class ResponseStore {
  readonly #put;
  readonly #get;
  readonly #delete;
  readonly #holding;

  constructor(database: Database) {
    database.tables("responses", TABLES);
    this.#put = database.prepare(
      "INSERT OR REPLACE INTO responses (id, created_at, response, items, stored) VALUES (?, ?, ?, ?, ?)",
    );
    this.#get = database.prepare("SELECT * FROM responses WHERE id = ?");
    this.#delete = database.prepare("DELETE FROM responses WHERE id = ?");
    this.#holding = database.prepare(
      "SELECT * FROM responses WHERE stored = 1 AND instr(items, ?) > 0 LIMIT 1",
    );
  }

  /** Keeps it, in place of one with the same id. */
  put({ id, createdAt, response, items, stored }: StoredResponse): void {
    const texts = [JSON.stringify(response), JSON.stringify(items)] as const;
    this.#put.run(id, createdAt, ...texts, stored ? 1 : 0);
  }

  /** `undefined` if there is none. */
  get(id: string): StoredResponse | undefined {
    const row = this.#get.get(id);
    return row && toResponse(row);
  }

  /** An item of a stored conversation by its id; `null` if none that is stored has it. */
  item(id: string): Readonly<Record<string, unknown>> | null {
    if (id === "") return null;
    const row = this.#holding.get(`"id":${JSON.stringify(id)}`);
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
