import type { FileChange } from "./file-change.ts";

/** Category of a timeline entry. The page filters by it. */
export type EntryKind =
  | "evaluation"
  | "prompt"
  | "turn"
  | "call"
  | "files"
  | "context"
  | "rollback"
  | "event";

/** How an entry ended. `"open"`: no end is known, because it still runs or was interrupted. */
export type EntryStatus = "ok" | "failed" | "open" | "none";

/** One line of the timeline. Texts are shortened; the whole event is in the {@link EntryDetail}. */
export interface Entry {
  /**
   * Identifies the entry in links, and stays the same when the session is read again: `"2"` is the second evaluation,
   * `"2.3"` its third turn, `"2.3.1"` the turn's first call, and `"n17"` the event in record 17.
   */
  readonly key: string;
  /** Key of the entry that contains this one; `null` at the top. */
  readonly parent: string | null;
  readonly kind: EntryKind;
  /** Type of the event, or of the record, that the entry comes from. */
  readonly type: string;
  readonly title: string;
  /** Begins with what matters most: the params of a call, the text of a turn. */
  readonly text: string;
  readonly status: EntryStatus;
  /** When it started, in milliseconds since 1970; `null` if that is not known. */
  readonly at: number | null;
  /** How long it took, in milliseconds; `null` if that is not known. */
  readonly ms: number | null;
  /** Where a call ran: `"here"`, or the provider's name, with the container if it is known. */
  readonly place?: string;
  /** Tokens that a turn used, or all turns of an evaluation. */
  readonly tokens?: number;
  /** Cost in US dollars, if the provider reports it. */
  readonly usd?: number;
  /** Set if the event's changes were rolled back later. */
  readonly isUndone?: true;
}

/** Everything about one entry. Long texts and deep values are shortened. */
export interface EntryDetail {
  readonly key: string;
  /** The events of the entry: of a call, the request of the model and the result. */
  readonly events: readonly unknown[];
  /** Files that changed, if the entry is about files. */
  readonly files: readonly FileChange[];
  /** Whether the contents of files can be read. */
  readonly hasContents: boolean;
}
