import type { WireItem } from "../../openai/wire.ts";
import { conversationTables } from "./conversation-tables.ts";
import type { Database } from "./database.ts";
import { readPositionId } from "./position-id.ts";
import { POSITIONS_PER_LINE } from "./response-tables.ts";
import { type Row, readNullableNumber, readNumberColumn, readTextColumn } from "./row.ts";
import type { SerializedItem } from "./serialized-item.ts";

/** A position on a line. Responses end at positions, and other responses can continue from there. */
export interface LinePosition {
  readonly line: number;
  readonly position: number;
}

/** A stored item with its address. */
export interface StoredItem extends SerializedItem {
  readonly at: number;
}

/** A range of a conversation, on a line and the lines it forked from. */
export interface LineRange {
  readonly line: number;
  readonly from: number;
  /** The position after the last item. */
  readonly to: number;
}

/** Where a conversation ends, so that more items can follow. */
export interface ConversationEnd {
  readonly line: number;
  /** The position after the last item. */
  readonly end: number;
  /** The position at which the model starts to read: 0, or the last compaction in an output. */
  readonly first: number;
}

/** The items that {@link ConversationLines.append} has written, with the position of the first output item. */
export interface AppendedItems extends ConversationEnd {
  readonly output: number;
}

/** Stores all conversations; each item is stored once. `response-tables.ts` describes the layout. */
export class ConversationLines {
  readonly #write;
  readonly #copy;
  readonly #isTaken;
  readonly #insertFork;
  readonly #fork;
  readonly #read;
  readonly #having;
  readonly #first;
  readonly #needed;
  readonly #cut;
  readonly #drop;
  #nextLine: number;

  constructor(database: Database) {
    database.migrateTables("conversations", conversationTables);
    this.#write = database.prepare("INSERT INTO response_items (at, id, item) VALUES (?, ?, ?)");
    this.#copy = database.prepare(
      `INSERT INTO response_items (at, id, item)
       SELECT at + ?, id, item FROM response_items WHERE at >= ? AND at < ?`,
    );
    this.#isTaken = database.prepare("SELECT 1 FROM response_items WHERE at = ?");
    this.#insertFork = database.prepare(
      "INSERT INTO response_forks (line, parent, start) VALUES (?, ?, ?)",
    );
    this.#fork = database.prepare("SELECT parent, start FROM response_forks WHERE line = ?");
    this.#read = database.prepare(
      "SELECT at, item FROM response_items WHERE at >= ? AND at < ? ORDER BY at",
    );
    // Searches by id, which few items share, instead of by range, which may contain many items.
    this.#having = database.prepare(
      "SELECT at FROM response_items WHERE id = ? AND +at >= ? AND +at < ?",
    );
    this.#first = database.prepare(
      "SELECT item FROM response_items WHERE id = ? ORDER BY at LIMIT 1",
    );
    this.#needed = database.prepare(
      `SELECT max(end_at) - :from AS position FROM responses WHERE end_at >= :from AND end_at < :to
       UNION ALL SELECT max(start) FROM response_forks WHERE parent = :line
       UNION ALL SELECT max(end_place) FROM conversations WHERE line = :line`,
    );
    this.#cut = database.prepare("DELETE FROM response_items WHERE at >= ? AND at < ?");
    this.#drop = database.prepare("DELETE FROM response_forks WHERE line = ?");
    this.#nextLine = findLastLine(database) + 1;
  }

  /** Returns a new, empty line. */
  createLine(): number {
    return this.#nextLine++;
  }

  /** Returns a line that continues from a position: the same line if the position is free, otherwise a new one. */
  continueLine({ line, position }: LinePosition): number {
    if (!this.#isTaken.get(toAddress({ line, position }))) return line;
    return this.forkLine({ line, position });
  }

  /** Creates a line that shares all items before the position. */
  forkLine({ line, position }: LinePosition): number {
    const next = this.createLine();
    this.#insertFork.run(next, this.#findOwner({ line, position }), position);
    return next;
  }

  /** Writes items after the end of a conversation, or at the start of a new one. */
  append(
    before: ConversationEnd | null,
    input: readonly SerializedItem[],
    output: readonly SerializedItem[] = [],
  ): AppendedItems {
    const start = before?.end ?? 0;
    const [outputAt, end] = [start + input.length, start + input.length + output.length];
    const line = this.#selectLine(before, end);
    this.write({ line, position: start }, input);
    this.write({ line, position: outputAt }, output);
    const compaction = output.findLastIndex(({ item }) => item["type"] === "compaction");
    const first = compaction === -1 ? (before?.first ?? 0) : outputAt + compaction;
    return { line, end, first, output: outputAt };
  }

  /** Creates a line with the conversation's items except those at some positions, which are in ascending order. */
  omit(
    { line, end, first }: ConversationEnd,
    positions: readonly [number, ...number[]],
  ): ConversationEnd {
    const [start] = positions;
    const next = this.#shareStart({ line, position: start });
    let to = start;
    for (const [index, position] of positions.entries()) {
      const rest = { line, from: position + 1, to: positions[index + 1] ?? end };
      this.#copyItems(rest, { line: next, position: to });
      to += rest.to - rest.from;
    }
    const skipped = positions.filter((position) => position < first).length;
    // Without the compaction the model reads everything again.
    return { line: next, end: to, first: positions.includes(first) ? 0 : first - skipped };
  }

  /** Writes items from the position on. */
  write({ line, position }: LinePosition, items: readonly SerializedItem[]): void {
    for (const [index, { item, text }] of items.entries()) {
      const id = hasId(item) ? item["id"] : null;
      this.#write.run(toAddress({ line, position: position + index }), id, text);
    }
  }

  /** Returns a range's items in order, with their addresses. */
  read(range: LineRange): readonly StoredItem[] {
    return this.#splitByLine(range).flatMap(({ line, from, to }) =>
      this.#read
        .all(toAddress({ line, position: from }), toAddress({ line, position: to }))
        .map((row) => {
          const text = readTextColumn(row, "item");
          return { item: JSON.parse(text), text, at: readNumberColumn(row, "at") };
        }),
    );
  }

  /** Returns the positions in the range of the items with this id, or with the address that the id contains. */
  findPositions(id: string, range: LineRange): readonly number[] {
    const at = readPositionId(id);
    if (at !== null) {
      const { position } = toLinePosition(at);
      const [found] = this.read({ line: range.line, from: position, to: position + 1 });
      const isInRange = position >= range.from && position < range.to;
      return isInRange && found?.at === at && !hasId(found.item) ? [position] : [];
    }
    return this.#splitByLine(range).flatMap(({ line, from, to }) =>
      this.#having
        .all(id, toAddress({ line, position: from }), toAddress({ line, position: to }))
        .map((row) => toLinePosition(readNumberColumn(row, "at")).position),
    );
  }

  /** Returns the item with this id on the oldest line that contains one, or `null`. */
  findItem(id: string): WireItem | null {
    const at = readPositionId(id);
    if (at !== null) {
      const [found] = this.#read.all(at, at + 1);
      const item = found ? JSON.parse(readTextColumn(found, "item")) : {};
      return found && !hasId(item) ? item : null;
    }
    const row = this.#first.get(id);
    return row ? JSON.parse(readTextColumn(row, "item")) : null;
  }

  /**
   * Deletes the items that no response needs: those after the last response end and the last fork on their
   * line.
   */
  trim(from: number): void {
    let line: number | null = from;
    while (line !== null) {
      const first = toAddress({ line, position: 0 });
      const end = toAddress({ line: line + 1, position: 0 });
      const rows = this.#needed.all({ line, from: first, to: end });
      const needed = Math.max(...rows.map((row) => readNullableNumber(row, "position") ?? -1));
      this.#cut.run(first + Math.max(0, needed), end);
      if (needed >= 0) return;
      const fork: Row | undefined = this.#fork.get(line);
      this.#drop.run(line);
      line = fork ? readNumberColumn(fork, "parent") : null;
    }
  }

  #selectLine(before: ConversationEnd | null, end: number): number {
    if (!before) return this.createLine();
    const from = { line: before.line, position: before.end };
    // Two responses cannot end at the same position of a line.
    return end === before.end ? this.forkLine(from) : this.continueLine(from);
  }

  /** Creates a line with all items before the position: shared ones, or copies if they are on too many lines. */
  #shareStart({ line, position }: LinePosition): number {
    const shared = { line, from: 0, to: position };
    if (this.#splitByLine(shared).length <= MAX_LINES) return this.forkLine({ line, position });
    const next = this.createLine();
    this.#copyItems(shared, { line: next, position: 0 });
    return next;
  }

  #copyItems(range: LineRange, to: LinePosition): void {
    for (const { line, from, to: end } of this.#splitByLine(range)) {
      const shift = toAddress(to) - toAddress({ line, position: range.from });
      this.#copy.run(
        shift,
        toAddress({ line, position: from }),
        toAddress({ line, position: end }),
      );
    }
  }

  /** Returns the line that stores the item before the position: the line itself, or one that it forked from. */
  #findOwner({ line, position }: LinePosition): number {
    let owner = line;
    for (let fork = this.#fork.get(owner); fork; fork = this.#fork.get(owner)) {
      if (readNumberColumn(fork, "start") < position) break;
      owner = readNumberColumn(fork, "parent");
    }
    return owner;
  }

  /** Splits a range by the lines that store its items, in order. */
  #splitByLine({ line, from, to }: LineRange): readonly LineRange[] {
    const pieces: LineRange[] = [];
    let piece = { line, from, to };
    for (let fork = this.#fork.get(line); fork; fork = this.#fork.get(piece.line)) {
      const start = readNumberColumn(fork, "start");
      pieces.push({ ...piece, from: Math.max(start, from) });
      piece = { line: readNumberColumn(fork, "parent"), from, to: Math.min(start, to) };
      if (piece.to <= from) return pieces.reverse();
    }
    pieces.push(piece);
    return pieces.reverse();
  }
}

/** Returns whether an item has an id of its own. */
function hasId(item: WireItem): item is WireItem & { readonly id: string } {
  return typeof item["id"] === "string";
}

/** The maximum number of lines that the removal of items spreads a conversation over. Each one is a query. */
const MAX_LINES = 16;

/** Combines a line and a position into one number. */
export function toAddress({ line, position }: LinePosition): number {
  return line * POSITIONS_PER_LINE + position;
}

/** Splits a combined number into its line and position. */
export function toLinePosition(at: number): LinePosition {
  return { line: Math.floor(at / POSITIONS_PER_LINE), position: at % POSITIONS_PER_LINE };
}

function findLastLine(database: Database): number {
  const rows = database
    .prepare(
      `SELECT max(at) AS at FROM response_items
       UNION ALL SELECT max(end_at) FROM responses
       UNION ALL SELECT max(line) * ${POSITIONS_PER_LINE} FROM response_forks
       UNION ALL SELECT max(line) * ${POSITIONS_PER_LINE} FROM conversations`,
    )
    .all();
  return Math.max(...rows.map((row) => toLinePosition(readNullableNumber(row, "at") ?? 0).line));
}
