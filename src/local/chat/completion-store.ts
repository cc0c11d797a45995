import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { Database } from "../store/database.ts";
import { type ListPage, type PageQuery, readRowPage, toPage } from "../store/paging.ts";
import { type Row, readTextColumn } from "../store/row.ts";

/** A completion of a list. */
export type StoredCompletion = WireItem & { readonly id: string };

/** Selects completions of a list. */
export interface CompletionFilter {
  readonly model: string | null;
  /** Keys and values that the completion's metadata must have. */
  readonly metadata: Readonly<Record<string, string>>;
}

const TABLES: readonly string[] = [
  `CREATE TABLE chat_completions (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     model TEXT NOT NULL,
     metadata TEXT NOT NULL,
     completion TEXT NOT NULL,
     messages TEXT NOT NULL
   ) STRICT`,
];

/** Stores chat completions of requests with `store: true`. Its table is created on first use. */
export class CompletionStore {
  readonly #database: Database;
  #isMigrated = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores a completion with the messages of its request. */
  add(completion: WireItem, messages: readonly WireItem[]): void {
    const { metadata = {} } = completion;
    const texts = [metadata, completion, messages].map((part) => JSON.stringify(part));
    const names = [readString(completion, "id"), readString(completion, "model")];
    this.#prepare(
      "INSERT INTO chat_completions (id, model, metadata, completion, messages) VALUES (?, ?, ?, ?, ?)",
    ).run(...names, ...texts);
  }

  /** Returns a completion, or `null`. */
  get(id: string): StoredCompletion | null {
    const row = this.#find(id);
    return row ? toCompletion(row) : null;
  }

  /** Returns one page of the completions that match the filter. */
  list({ model, metadata }: CompletionFilter, query: PageQuery): ListPage<StoredCompletion> {
    const conditions: string[] = model === null ? [] : ["model = ?"];
    const values: string[] = model === null ? [] : [model];
    for (const [key, value] of Object.entries(metadata)) {
      conditions.push("EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND value = ?)");
      values.push(key, value);
    }
    this.#migrate();
    const where = conditions.join(" AND ") || "TRUE";
    const list = { table: "chat_completions", where, values };
    const { rows, hasMore } = readRowPage(this.#database, list, query);
    return toPage(rows.map(toCompletion), hasMore);
  }

  /** Replaces the metadata of a completion and returns it, or `null` if there is none. */
  update(id: string, metadata: WireItem): StoredCompletion | null {
    const text = JSON.stringify(metadata);
    this.#prepare("UPDATE chat_completions SET metadata = ? WHERE id = ?").run(text, id);
    return this.get(id);
  }

  /** Deletes a completion. Returns whether it existed. */
  delete(id: string): boolean {
    return this.#prepare("DELETE FROM chat_completions WHERE id = ?").run(id).changes > 0;
  }

  /** Returns the messages of a completion's request, each with an id, or `null` if there is none. */
  listMessages(id: string): readonly StoredCompletion[] | null {
    const row = this.#find(id);
    if (!row) return null;
    const messages: readonly WireItem[] = JSON.parse(readTextColumn(row, "messages"));
    return messages.map((message, place) => toStoredMessage(message, `${id}-${place}`));
  }

  #find(id: string): Row | undefined {
    return this.#prepare("SELECT * FROM chat_completions WHERE id = ?").get(id);
  }

  #prepare(sql: string) {
    this.#migrate();
    return this.#database.prepare(sql);
  }

  #migrate(): void {
    if (this.#isMigrated) return;
    this.#database.migrateTables("chat_completions", TABLES);
    this.#isMigrated = true;
  }
}

function toCompletion(row: Row): StoredCompletion {
  const completion: WireItem = JSON.parse(readTextColumn(row, "completion"));
  const metadata: unknown = JSON.parse(readTextColumn(row, "metadata"));
  return { ...completion, id: readTextColumn(row, "id"), metadata };
}

/** Content in parts is in a field of its own. */
function toStoredMessage(message: WireItem, id: string): StoredCompletion {
  const { content = null } = message;
  const parts = Array.isArray(content) ? content.filter(isPlainObject) : null;
  return { ...message, id, content: parts ? null : content, content_parts: parts };
}
