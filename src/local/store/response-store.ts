import type { WireItem } from "../../openai/wire.ts";
import type { Database } from "./database.ts";
import { atOf, ItemLines, linePlace, type Stretch } from "./item-lines.ts";
import { findPlacePage, type PageQuery } from "./paging.ts";
import { responseTables } from "./response-tables.ts";
import { numberIn, type Row, textIn, textOrNullIn } from "./row.ts";
import type { WrittenItem } from "./written-item.ts";

/** A response as it is given to be kept: with what it adds to a conversation, and no more. */
export interface NewResponse {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** As the client got it, without its output. */
  readonly response: WireItem;
  /** What the client asked to see of the output. */
  readonly include: ReadonlySet<string>;
  /** The response that it goes on from. */
  readonly previous: string | null;
  readonly input: readonly WrittenItem[];
  readonly output: readonly WrittenItem[];
}

/** A response as it was kept. */
export interface StoredResponse {
  readonly response: WireItem;
  /** What of `output` the client was shown; `null` if that is within `response`. */
  readonly include: ReadonlySet<string> | null;
  /** With all that is in it. */
  readonly output: readonly WireItem[];
}

/** Some of a response's input: what its conversation had before, and its own. */
export interface InputPage {
  /** In the order asked for; an item that came without an id has one by its place. */
  readonly items: readonly { readonly id: string; readonly item: WireItem }[];
  readonly hasMore: boolean;
}

/** Keeps responses, so that they can be asked for and gone on from. */
export class ResponseStore {
  readonly #database: Database;
  readonly #lines: ItemLines;
  readonly #put;
  readonly #get;
  readonly #places;
  readonly #delete;

  constructor(database: Database) {
    this.#database = database;
    database.tables("responses", responseTables);
    this.#lines = new ItemLines(database);
    this.#put = database.prepare(
      `INSERT INTO responses (end_at, id, created_at, first_place, output_place, next_first_place,
                              include, response)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM responses WHERE id = ?");
    this.#places = database.prepare(
      "SELECT end_at, first_place, output_place, next_first_place FROM responses WHERE id = ?",
    );
    this.#delete = database.prepare("DELETE FROM responses WHERE id = ?");
  }

  /** Keeps it, unless the response that it goes on from is not there: then it says `false`. */
  put(given: NewResponse): boolean {
    const { id, createdAt, input, output } = given;
    return this.#database.transaction(() => {
      const before = given.previous === null ? null : this.#placesOf(given.previous);
      if (before === undefined) return false;
      const start = before?.end ?? 0;
      const [outputAt, end] = [start + input.length, start + input.length + output.length];
      const line = this.#lineFor(before, end);
      this.#lines.write({ line, place: start }, input);
      this.#lines.write({ line, place: outputAt }, output);
      const first = before?.nextFirst ?? 0;
      const compaction = output.findLastIndex(({ item }) => item["type"] === "compaction");
      const nextFirst = compaction === -1 ? first : outputAt + compaction;
      const texts = [JSON.stringify([...given.include]), JSON.stringify(given.response)] as const;
      const at = atOf({ line, place: end });
      this.#put.run(at, id, createdAt, first, outputAt, nextFirst, ...texts);
      return true;
    });
  }

  has(id: string): boolean {
    return this.#placesOf(id) !== undefined;
  }

  /** `undefined` if there is none. */
  get(id: string): StoredResponse | undefined {
    const row = this.#get.get(id);
    if (!row) return undefined;
    const { line, output, end } = toPlaces(row);
    const include = textOrNullIn(row, "include");
    return {
      response: JSON.parse(textIn(row, "response")),
      include: include === null ? null : new Set<string>(JSON.parse(include)),
      output: this.#lines.read({ line, from: output, to: end }).map(({ item }) => item),
    };
  }

  /** What goes on from a response begins with this: its conversation, or that from the compaction in it. */
  conversation(id: string): readonly WrittenItem[] {
    const places = this.#placesOf(id);
    if (!places) return [];
    return this.#lines.read({ line: places.line, from: places.nextFirst, to: places.end });
  }

  /** A part of what a response was made from. */
  input(id: string, query: PageQuery): InputPage {
    const places = this.#placesOf(id);
    if (!places) return { items: [], hasMore: false };
    const all = { line: places.line, from: places.first, to: places.output };
    const { from, to, hasMore } = findPlacePage(all, query, (named) => this.#standing(named, all));
    const items = this.#lines.read({ line: all.line, from, to }).map(({ item }, index) => {
      const place = from + index - all.from;
      return { id: typeof item["id"] === "string" ? item["id"] : `msg_${place}`, item };
    });
    return { items: query.order === "asc" ? items : items.reverse(), hasMore };
  }

  /** An item of a stored conversation by its id; `null` if none that is stored has it. */
  item(id: string): WireItem | null {
    return this.#lines.first(id);
  }

  /**
   * Whether there was one. What went on from it keeps its conversation: items go when no response is
   * left that comes after them, since OpenAI deletes one response and says nothing of later ones.
   */
  delete(id: string): boolean {
    return this.#database.transaction(() => {
      const places = this.#placesOf(id);
      if (!places) return false;
      this.#delete.run(id);
      this.#lines.trim(places.line);
      return true;
    });
  }

  #lineFor(before: Places | null, end: number): number {
    if (!before) return this.#lines.begin();
    const from = { line: before.line, place: before.end };
    // No two responses end at one place of a line.
    return end === before.end ? this.#lines.part(from) : this.#lines.goOn(from);
  }

  /** Where an item stands that was shown with this id. */
  #standing(id: string, all: Stretch): readonly number[] {
    const places = this.#lines.placesOf(id, all);
    const [, digits] = /^msg_(0|[1-9]\d{0,14})$/.exec(id) ?? [];
    const place = all.from + Number(digits ?? Number.NaN);
    if (!(place < all.to)) return places;
    const [at] = this.#lines.read({ line: all.line, from: place, to: place + 1 });
    return typeof at?.item["id"] === "string" ? places : [...places, place];
  }

  #placesOf(id: string): Places | undefined {
    const row = this.#places.get(id);
    return row && toPlaces(row);
  }
}

/** Where on its line a response's parts begin. */
interface Places {
  readonly line: number;
  readonly first: number;
  readonly output: number;
  readonly end: number;
  readonly nextFirst: number;
}

function toPlaces(row: Row): Places {
  const { line, place: end } = linePlace(numberIn(row, "end_at"));
  return {
    line,
    first: numberIn(row, "first_place"),
    output: numberIn(row, "output_place"),
    end,
    nextFirst: numberIn(row, "next_first_place"),
  };
}
