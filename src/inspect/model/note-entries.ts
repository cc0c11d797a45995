import { readString, type UnknownRecord } from "../../base/json.ts";
import type { Entry } from "../entry.ts";
import type { EntryList, EventPosition } from "./entry-list.ts";
import { toPreview } from "./preview.ts";
import { readTime } from "./read-time.ts";

/** An event or a record, its position, and the key of the entry above it. */
export interface EventPlace {
  readonly event: UnknownRecord;
  readonly position: EventPosition;
  readonly parent: string | null;
}

/** The parts of an event that its entry shows. */
export type NoteFields = Pick<Entry, "kind" | "title"> &
  Partial<Pick<Entry, "text" | "status">> & { readonly isHighlight?: boolean };

/** Adds entries of one event each to a timeline, and collects the entries that are worth a look. */
export class NoteEntries {
  /** Keys of the entries that are worth a look. */
  readonly highlights: string[] = [];
  readonly #entries: EntryList;

  constructor(entries: EntryList) {
    this.#entries = entries;
  }

  /** Adds the entry of an event. Returns its key. */
  add({ event, position, parent }: EventPlace, note: NoteFields): string {
    const { kind, title, text = "", status = "none", isHighlight = false } = note;
    const { n, index } = position;
    const type = readString(event, "type") || readString(event, "kind");
    const key = `n${n}${index > 0 ? `.${index}` : ""}`;
    const shown = { type: toPreview(type, 80), title, text: toPreview(text) };
    const entry: Entry = { key, parent, kind, ...shown, status, at: readTime(event), ms: null };
    const added = this.#entries.add(entry, position);
    if (isHighlight) this.highlight(added);
    return added;
  }

  /** Marks an entry as worth a look. */
  highlight(key: string): void {
    if (this.highlights.length < MAX_HIGHLIGHTS) this.highlights.push(key);
  }
}

const MAX_HIGHLIGHTS = 300;
