import { ApiProblem } from "../api-problem.ts";
import type { ConversationEnd, ConversationLines } from "../store/conversation-lines.ts";
import type { Database } from "../store/database.ts";
import { findPositionPage, type PageQuery } from "../store/paging.ts";
import { type Row, readNumberColumn, readTextColumn } from "../store/row.ts";
import type { SerializedItem } from "../store/serialized-item.ts";

/** The record of a conversation. */
export interface StoredConversation {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly end: ConversationEnd;
}

/** One page of a conversation's items, in the requested order. */
export interface ItemPage {
  readonly items: readonly SerializedItem[];
  readonly hasMore: boolean;
}

/** Stores the conversations that clients create and refer to by id. */
export class ConversationStore {
  readonly #database: Database;
  readonly #lines: ConversationLines;
  readonly #insert;
  readonly #get;
  readonly #setMetadata;
  readonly #setEnd;
  readonly #delete;

  constructor(database: Database, lines: ConversationLines) {
    this.#database = database;
    this.#lines = lines;
    this.#insert = database.prepare(
      `INSERT INTO conversations (id, created_at, metadata, line, first_place, end_place)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM conversations WHERE id = ? AND deleted = 0");
    this.#setMetadata = database.prepare("UPDATE conversations SET metadata = ? WHERE id = ?");
    this.#setEnd = database.prepare(
      "UPDATE conversations SET line = ?, first_place = ?, end_place = ? WHERE id = ?",
    );
    this.#delete = database.prepare("UPDATE conversations SET deleted = 1 WHERE id = ?");
  }

  /** Stores a new conversation with these items. */
  create(
    conversation: Omit<StoredConversation, "end">,
    items: readonly SerializedItem[],
  ): StoredConversation {
    const { id, createdAt, metadata } = conversation;
    return this.#database.transaction(() => {
      const end = this.#lines.append(null, items);
      this.#insert.run(id, createdAt, JSON.stringify(metadata), end.line, end.first, end.end);
      return { ...conversation, end };
    });
  }

  /** Returns a conversation. Throws OpenAI's error if it does not exist or was deleted. */
  find(id: string): StoredConversation {
    const row = this.#get.get(id);
    if (!row) throw new ApiProblem(404, `Conversation with id '${id}' not found.`);
    return toStoredConversation(row);
  }

  /** Replaces the metadata of a conversation. */
  update(id: string, metadata: StoredConversation["metadata"]): StoredConversation {
    const conversation = this.find(id);
    this.#setMetadata.run(JSON.stringify(metadata), id);
    return { ...conversation, metadata };
  }

  /** Deletes a conversation. Its items are kept, as OpenAI does: clients can still refer to them by id. */
  delete(id: string): void {
    this.find(id);
    this.#delete.run(id);
  }

  /** Moves the end of a conversation. `write` stores the items before the new end, in the same transaction. */
  advance(id: string, write: () => ConversationEnd): ConversationEnd {
    return this.#database.transaction(() => {
      const end = write();
      this.#setEnd.run(end.line, end.first, end.end, id);
      return end;
    });
  }

  /** Returns all items that the model reads. */
  read({ line, first, end }: ConversationEnd): readonly SerializedItem[] {
    return this.#lines.read({ line, from: first, to: end });
  }

  /** Returns one page of a conversation's items. */
  readPage({ line, end }: ConversationEnd, query: PageQuery): ItemPage {
    const all = { line, from: 0, to: end };
    const page = findPositionPage(all, query, (cursor) => {
      const positions = this.#lines.findPositions(cursor, all);
      if (positions.length === 0) throw createItemProblem(cursor, "after");
      return positions;
    });
    const items = this.#lines.read({ line, from: page.from, to: page.to });
    return { items: query.order === "asc" ? items : items.toReversed(), hasMore: page.hasMore };
  }

  /** Whether the conversation contains an item with this id. */
  hasItem({ line, end }: ConversationEnd, itemId: string): boolean {
    return this.#lines.findPositions(itemId, { line, from: 0, to: end }).length > 0;
  }

  /** Returns one item. Throws if the conversation does not contain it. */
  findItem({ line, end }: ConversationEnd, itemId: string): SerializedItem {
    const [position] = this.#lines.findPositions(itemId, { line, from: 0, to: end });
    const [found] =
      position === undefined ? [] : this.#lines.read({ line, from: position, to: position + 1 });
    if (!found) throw createItemProblem(itemId, null);
    return found;
  }

  /** Removes an item from a conversation. Responses that were created before keep it. */
  deleteItem(id: string, itemId: string): StoredConversation {
    const { end, ...conversation } = this.find(id);
    const all = { line: end.line, from: 0, to: end.end };
    const found = this.#lines.findPositions(itemId, all).toSorted((one, other) => one - other);
    const [first, ...more] = found;
    if (first === undefined) throw createItemProblem(itemId, null);
    const next = this.#database.transaction(() => {
      const moved = this.advance(id, () => this.#lines.omit(end, [first, ...more]));
      this.#lines.trim(end.line);
      return moved;
    });
    return { ...conversation, end: next };
  }
}

/** Creates the error for an item that a conversation does not contain: OpenAI's wording. */
function createItemProblem(itemId: string, param: string | null): ApiProblem {
  return new ApiProblem(404, `No item found with id '${itemId}'`, { param });
}

function toStoredConversation(row: Row): StoredConversation {
  return {
    id: readTextColumn(row, "id"),
    createdAt: readNumberColumn(row, "created_at"),
    metadata: JSON.parse(readTextColumn(row, "metadata")),
    end: {
      line: readNumberColumn(row, "line"),
      end: readNumberColumn(row, "end_place"),
      first: readNumberColumn(row, "first_place"),
    },
  };
}
