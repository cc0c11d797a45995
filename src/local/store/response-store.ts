import type { WireItem } from "../../openai/wire.ts";
import { getItemIdPrefix } from "../item-id-prefix.ts";
import {
  type ConversationEnd,
  ConversationLines,
  toAddress,
  toLinePosition,
} from "./conversation-lines.ts";
import type { Database } from "./database.ts";
import { findPositionPage, type PageQuery } from "./paging.ts";
import { createPositionId } from "./position-id.ts";
import { responseTables } from "./response-tables.ts";
import { type Row, readNullableText, readNumberColumn, readTextColumn } from "./row.ts";
import type { SerializedItem } from "./serialized-item.ts";

/** A response to store, with the items that it adds to its conversation. */
export interface NewResponse {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** The response object sent to the client, without its output. */
  readonly response: WireItem;
  /** The `include` values of the request: optional fields of output items to return. */
  readonly include: ReadonlySet<string>;
  /** What the response's stream showed and the response does not. @default nothing */
  readonly replay?: WireItem | null | undefined;
  /** The id of the response that this one continues from. */
  readonly previous: string | null;
  readonly input: readonly SerializedItem[];
  readonly output: readonly SerializedItem[];
}

/** A stored response. */
export interface StoredResponse {
  readonly response: WireItem;
  /** The `include` values of the request; `null` if `response` already contains the output. */
  readonly include: ReadonlySet<string> | null;
  /** The output items with all optional fields. */
  readonly output: readonly WireItem[];
  /** What the response's stream showed and the response does not; `null` if nothing. */
  readonly replay: WireItem | null;
}

/** One page of a response's input: earlier items from the conversation, then its own. */
export interface InputPage {
  /** In the requested order. An item without an id gets one from its address. */
  readonly items: readonly { readonly id: string; readonly item: WireItem }[];
  readonly hasMore: boolean;
}

/** Stores responses, so that clients can retrieve them and continue from them. */
export class ResponseStore {
  /** The items of all conversations. */
  readonly lines: ConversationLines;
  readonly #database: Database;
  readonly #insert;
  readonly #get;
  readonly #positions;
  readonly #update;
  readonly #delete;
  readonly #mark;
  readonly #unmark;
  /** The ids of responses that are running. */
  readonly #running = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
    database.migrateTables("responses", responseTables);
    this.lines = new ConversationLines(database);
    this.#insert = database.prepare(
      `INSERT INTO responses (end_at, id, created_at, first_place, output_place, next_first_place,
                              include, response, replay)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM responses WHERE id = ?");
    this.#positions = database.prepare(
      "SELECT end_at, first_place, output_place, next_first_place FROM responses WHERE id = ?",
    );
    this.#update = database.prepare(
      "UPDATE responses SET end_at = ?, next_first_place = ?, response = ?, replay = ? WHERE id = ?",
    );
    this.#delete = database.prepare("DELETE FROM responses WHERE id = ?");
    this.#mark = database.prepare("INSERT INTO running_responses (id) VALUES (?)");
    this.#unmark = database.prepare("DELETE FROM running_responses WHERE id = ?");
    failInterrupted(database);
  }

  /** Stores a response. Returns `false` if the response that it continues from does not exist. */
  add(response: NewResponse): boolean {
    return this.#database.transaction(() => {
      const { previous } = response;
      const before = previous === null ? null : this.#findPositions(previous);
      if (before === undefined) return false;
      this.addAfter(before && { ...before, first: before.nextFirst }, response);
      return true;
    });
  }

  /**
   * Marks a response that is about to be stored as running. Storing it again adds its output and ends the mark. If
   * the process ends first, the response has failed at the next start.
   */
  markRunning(id: string): void {
    this.#mark.run(id);
    this.#running.add(id);
  }

  /** Returns whether the response is marked as running. */
  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Stores a response after the end of a conversation, or in a new one. Returns where the conversation ends now. */
  addAfter(
    before: ConversationEnd | null,
    { id, createdAt, response, include, replay, input, output }: Omit<NewResponse, "previous">,
  ): ConversationEnd {
    return this.#database.transaction(() => {
      const texts = [JSON.stringify(response), replay ? JSON.stringify(replay) : null] as const;
      const running = this.#running.has(id) ? this.#findPositions(id) : undefined;
      if (running) return this.#finishRunning(id, { running, output, texts });
      const after = this.lines.append(before, input, output);
      const included = JSON.stringify([...include]);
      const first = before?.first ?? 0;
      const at = toAddress({ line: after.line, position: after.end });
      this.#insert.run(at, id, createdAt, first, after.output, after.first, included, ...texts);
      return after;
    });
  }

  /** Returns whether the response exists. */
  has(id: string): boolean {
    return this.#findPositions(id) !== undefined;
  }

  /** Returns `undefined` if the response does not exist. */
  get(id: string): StoredResponse | undefined {
    const row = this.#get.get(id);
    if (!row) return undefined;
    const { line, output, end } = toPositions(row);
    const include = readNullableText(row, "include");
    const replay = readNullableText(row, "replay");
    return {
      response: JSON.parse(readTextColumn(row, "response")),
      include: include === null ? null : new Set<string>(JSON.parse(include)),
      output: this.lines.read({ line, from: output, to: end }).map(({ item }) => item),
      replay: replay === null ? null : JSON.parse(replay),
    };
  }

  /** Returns the conversation that continues from a response. It starts at the last compaction, if there is one. */
  readConversation(id: string): readonly SerializedItem[] {
    const positions = this.#findPositions(id);
    if (!positions) return [];
    return this.lines.read({ line: positions.line, from: positions.nextFirst, to: positions.end });
  }

  /** Returns one page of a response's input. */
  readInput(id: string, query: PageQuery): InputPage {
    const positions = this.#findPositions(id);
    if (!positions) return { items: [], hasMore: false };
    const all = { line: positions.line, from: positions.first, to: positions.output };
    const { from, to, hasMore } = findPositionPage(all, query, (cursor) =>
      this.lines.findPositions(cursor, all),
    );
    const items = this.lines.read({ line: all.line, from, to }).map(({ item, at }) => {
      const { id } = item;
      return {
        id: typeof id === "string" ? id : createPositionId(getItemIdPrefix(item), at),
        item,
      };
    });
    return { items: query.order === "asc" ? items : items.reverse(), hasMore };
  }

  /** Returns the stored item with this id, or `null`. */
  findItem(id: string): WireItem | null {
    return this.lines.findItem(id);
  }

  /**
   * Deletes a response. Returns `false` if it does not exist. Responses that continue from it keep their
   * conversation, because OpenAI deletes only a single response: items are deleted once no later response
   * needs them.
   */
  delete(id: string): boolean {
    return this.#database.transaction(() => {
      const positions = this.#findPositions(id);
      if (!positions) return false;
      if (this.#running.delete(id)) this.#unmark.run(id);
      this.#delete.run(id);
      this.lines.trim(positions.line);
      return true;
    });
  }

  /** Adds the output of a response that was stored as running. Its input stays where it is. */
  #finishRunning(id: string, { running, output, texts }: FinishedRun): ConversationEnd {
    const { line, end, nextFirst: first } = running;
    const after =
      output.length === 0
        ? { line, end, first }
        : this.lines.append({ line, end, first }, [], output);
    const at = toAddress({ line: after.line, position: after.end });
    this.#update.run(at, after.first, ...texts, id);
    this.#unmark.run(id);
    this.#running.delete(id);
    return after;
  }

  #findPositions(id: string): ResponsePositions | undefined {
    const row = this.#positions.get(id);
    return row && toPositions(row);
  }
}

/** The end of a response that was stored as running. */
interface FinishedRun {
  readonly running: ResponsePositions;
  readonly output: readonly SerializedItem[];
  /** The JSON of the response and of its replay. */
  readonly texts: readonly [response: string, replay: string | null];
}

/** Ends the responses that were running when the process ended. */
function failInterrupted(database: Database): void {
  const error = JSON.stringify({
    code: "server_error",
    message: "The local provider was closed before the response was complete.",
  });
  database
    .prepare(
      `UPDATE responses SET response = json_set(response, '$.status', 'failed', '$.error', json(?))
       WHERE id IN (SELECT id FROM running_responses)`,
    )
    .run(error);
  database.exec("DELETE FROM running_responses");
}

/** The positions on its line at which a response's parts begin. */
interface ResponsePositions {
  readonly line: number;
  readonly first: number;
  readonly output: number;
  readonly end: number;
  readonly nextFirst: number;
}

function toPositions(row: Row): ResponsePositions {
  const { line, position: end } = toLinePosition(readNumberColumn(row, "end_at"));
  return {
    line,
    first: readNumberColumn(row, "first_place"),
    output: readNumberColumn(row, "output_place"),
    end,
    nextFirst: readNumberColumn(row, "next_first_place"),
  };
}
