import type { WireItem } from "../../openai/wire.ts";
import type { Database } from "./database.ts";
import { PLACES_PER_LINE } from "./response-tables.ts";
import { numberIn, numberOrNullIn, type Row, textIn } from "./row.ts";
import type { WrittenItem } from "./written-item.ts";

/** A place on a line: where a response ends, and another may go on from it. */
export interface LinePlace {
  readonly line: number;
  readonly place: number;
}

/** Some items of a conversation: those on a line, and on the lines it parts from, by their places. */
export interface Stretch {
  readonly line: number;
  readonly from: number;
  /** The place after the last one. */
  readonly to: number;
}

/** The items of all conversations, each written once: `response-tables.ts` says how. */
export class ItemLines {
  readonly #write;
  readonly #isTaken;
  readonly #part;
  readonly #fork;
  readonly #read;
  readonly #having;
  readonly #first;
  readonly #needed;
  readonly #cut;
  readonly #drop;
  #nextLine: number;

  constructor(database: Database) {
    this.#write = database.prepare("INSERT INTO response_items (at, id, item) VALUES (?, ?, ?)");
    this.#isTaken = database.prepare("SELECT 1 FROM response_items WHERE at = ?");
    this.#part = database.prepare(
      "INSERT INTO response_forks (line, parent, start) VALUES (?, ?, ?)",
    );
    this.#fork = database.prepare("SELECT parent, start FROM response_forks WHERE line = ?");
    this.#read = database.prepare(
      "SELECT item FROM response_items WHERE at >= ? AND at < ? ORDER BY at",
    );
    // Found by the id, which few items have, and not in the stretch, which may have many.
    this.#having = database.prepare(
      "SELECT at FROM response_items WHERE id = ? AND +at >= ? AND +at < ?",
    );
    this.#first = database.prepare(
      "SELECT item FROM response_items WHERE id = ? ORDER BY at LIMIT 1",
    );
    this.#needed = database.prepare(
      `SELECT max(end_at) - :from AS place FROM responses WHERE end_at >= :from AND end_at < :to
       UNION ALL SELECT max(start) FROM response_forks WHERE parent = :line`,
    );
    this.#cut = database.prepare("DELETE FROM response_items WHERE at >= ? AND at < ?");
    this.#drop = database.prepare("DELETE FROM response_forks WHERE line = ?");
    this.#nextLine = lastLine(database) + 1;
  }

  /** A line for a conversation that begins. */
  begin(): number {
    return this.#nextLine++;
  }

  /** A line for what goes on from a place: the same one if nothing has gone on from there, or a new one. */
  goOn({ line, place }: LinePlace): number {
    if (!this.#isTaken.get(atOf({ line, place }))) return line;
    return this.part({ line, place });
  }

  /** A new line that shares all before that place. */
  part({ line, place }: LinePlace): number {
    const next = this.begin();
    this.#part.run(next, line, place);
    return next;
  }

  write({ line, place }: LinePlace, items: readonly WrittenItem[]): void {
    for (const [index, { item, text }] of items.entries()) {
      const id = typeof item["id"] === "string" ? item["id"] : null;
      this.#write.run(atOf({ line, place: place + index }), id, text);
    }
  }

  /** In their order. */
  read(stretch: Stretch): readonly WrittenItem[] {
    return this.#pieces(stretch).flatMap(({ line, from, to }) =>
      this.#read.all(atOf({ line, place: from }), atOf({ line, place: to })).map((row) => {
        const text = textIn(row, "item");
        return { item: JSON.parse(text), text };
      }),
    );
  }

  /** Where items with that id stand. */
  placesOf(id: string, stretch: Stretch): readonly number[] {
    return this.#pieces(stretch).flatMap(({ line, from, to }) =>
      this.#having
        .all(id, atOf({ line, place: from }), atOf({ line, place: to }))
        .map((row) => linePlace(numberIn(row, "at")).place),
    );
  }

  /** The one with that id on the oldest line that has one; `null` if there is none. */
  first(id: string): WireItem | null {
    const row = this.#first.get(id);
    return row ? JSON.parse(textIn(row, "item")) : null;
  }

  /** Lets go of what no response needs: none ends after it on its line, and no other line parts there. */
  trim(from: number): void {
    let line: number | null = from;
    while (line !== null) {
      const first = atOf({ line, place: 0 });
      const end = atOf({ line: line + 1, place: 0 });
      const rows = this.#needed.all({ line, from: first, to: end });
      const needed = Math.max(...rows.map((row) => numberOrNullIn(row, "place") ?? -1));
      this.#cut.run(first + Math.max(0, needed), end);
      if (needed >= 0) return;
      const fork: Row | undefined = this.#fork.get(line);
      this.#drop.run(line);
      line = fork ? numberIn(fork, "parent") : null;
    }
  }

  /** By the lines that they stand on, in their order. */
  #pieces({ line, from, to }: Stretch): readonly Stretch[] {
    const pieces: Stretch[] = [];
    let piece = { line, from, to };
    for (let fork = this.#fork.get(line); fork; fork = this.#fork.get(piece.line)) {
      const start = numberIn(fork, "start");
      pieces.push({ ...piece, from: Math.max(start, from) });
      piece = { line: numberIn(fork, "parent"), from, to: Math.min(start, to) };
      if (piece.to <= from) return pieces.reverse();
    }
    pieces.push(piece);
    return pieces.reverse();
  }
}

/** The number of a place among those of all lines. */
export function atOf({ line, place }: LinePlace): number {
  return line * PLACES_PER_LINE + place;
}

/** Where on which line that is. */
export function linePlace(at: number): LinePlace {
  return { line: Math.floor(at / PLACES_PER_LINE), place: at % PLACES_PER_LINE };
}

function lastLine(database: Database): number {
  const rows = database
    .prepare(
      `SELECT max(at) AS at FROM response_items
       UNION ALL SELECT max(end_at) FROM responses
       UNION ALL SELECT max(line) * ${PLACES_PER_LINE} FROM response_forks`,
    )
    .all();
  return Math.max(...rows.map((row) => linePlace(numberOrNullIn(row, "at") ?? 0).line));
}
