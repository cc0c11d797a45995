import type { Announcement } from "../../adapter/events.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { History, type HistoryMark } from "../history/history.ts";
import { historySlice } from "../history/history-slice.ts";
import { containerOf, repairFor } from "../history/repairs.ts";
import type { WireItem } from "../wire.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import type { CarriedOver } from "./conversation-window.ts";

/** What one turn brings into the history. */
export interface NewTurn {
  readonly turn: number;
  readonly promptText: string;
  readonly items: readonly WireItem[];
  /** What the workspace has to tell the model; it comes last. */
  readonly notes: readonly string[];
  /** The containers of ours that have died. */
  readonly gone: ReadonlySet<string>;
}

/** Whether a turn that failed has left its items in the history: compaction cannot be undone. */
type Appended =
  | { readonly state: "new" }
  | { readonly state: "compacted"; readonly turn: number; readonly notes: ReadonlySet<string> };

/**
 * The history of one conversation, kept such that the provider takes it. Every repair is reported
 * as a `HistoryRepaired` event.
 */
export class ConversationHistory {
  /** Whether it starts with what an earlier conversation was compacted to. */
  readonly startsCompacted: boolean;
  readonly #settings: ConversationSettings;
  readonly #publish: (event: Announcement) => void;
  readonly #history: History;
  /** Items that the provider would not take. */
  readonly #rejected = new WeakSet<WireItem>();
  #appended: Appended = { state: "new" };
  #restorePoint: HistoryMark;
  /** How many dead containers have nothing left in the history. */
  #purgedContainers = 0;

  /** Starts with the stored history if the evaluation continues it, else with what is carried over. */
  constructor(
    settings: ConversationSettings,
    publish: (event: Announcement) => void,
    { items: carried, discarded, promptText }: CarriedOver & { readonly promptText: string },
  ) {
    const { session, continues, modelConfig } = settings;
    this.#settings = settings;
    this.#publish = publish;
    session.register(historySlice);
    const items = continues ? session.get(historySlice) : [];
    const history = new History({ stored: modelConfig.store !== false, items });
    this.#history = history;
    this.#report("the stored history was torn", history.dropped);
    if (discarded !== null) {
      const compactions = history.drop(({ type }) => type === "compaction");
      this.#report(discarded, compactions);
    }
    this.startsCompacted = items.length === 0 && carried.length > 0;
    if (this.startsCompacted) {
      history.prompt(promptText);
      history.add(carried);
    }
    this.#restorePoint = history.mark();
  }

  /** The items themselves. */
  get history(): History {
    return this.#history;
  }

  /** Where `restore` goes back to, until the turn is compacted. */
  startTurn(): void {
    this.#restorePoint = this.#history.mark();
  }

  /** Adds a turn. What cannot be undone of an earlier try of the same turn is not added again. */
  append({ turn, promptText, items, notes, gone }: NewTurn): void {
    const history = this.#history;
    history.prompt(promptText);
    const before = this.#appended;
    const isThere = before.state === "compacted" && before.turn === turn;
    const unsent = isThere ? notes.filter((note) => !before.notes.has(note)) : notes;
    history.add([...(isThere ? [] : items), ...unsent.map(developerMessage)]);
    this.#purge(gone);
    this.#report("a call had no whole arguments or no output", history.settle());
  }

  /** The turn was compacted together with what came before it: it stays, even if it fails. */
  keepCompacted(turn: number, notes: readonly string[]): void {
    this.#restorePoint = this.#history.mark();
    this.#appended = { state: "compacted", turn, notes: new Set(notes) };
  }

  /** The turn was answered. */
  complete(items: readonly WireItem[]): void {
    this.#history.add(items);
    this.#appended = { state: "new" };
  }

  /** The turn has failed: the history is as it was before it, apart from repairs. */
  restore(): void {
    this.#history.restore(this.#restorePoint);
    this.#history.drop((item) => this.#rejected.has(item));
  }

  /** Another container has taken the place of this one. */
  replaceContainer(containerId: string, notes: readonly string[]): void {
    const dropped = this.#history.drop((item) => containerOf(item) === containerId);
    this.#report(`the container "${containerId}" is gone`, dropped);
    this.#history.add(notes.map(developerMessage));
  }

  /** Drops what the provider complains about. `alive`: a container that is known to live. */
  repair(error: OpenAIRequestError, alive: string | null): boolean {
    const repair = repairFor(error, this.#history.items, alive);
    const dropped = repair ? this.#history.drop((item) => repair.names(item)) : [];
    if (repair) this.#report(repair.reason, dropped);
    return dropped.length > 0;
  }

  /** Drops the calls that ran in dead containers of ours, once for each. */
  #purge(gone: ReadonlySet<string>): void {
    if (gone.size === this.#purgedContainers) return;
    this.#purgedContainers = gone.size;
    const dropped = this.#history.drop((item) => gone.has(containerOf(item) ?? ""));
    this.#report("the container that calls ran in is gone", dropped);
  }

  #report(reason: string, dropped: readonly WireItem[]): void {
    if (dropped.length === 0) return;
    for (const item of dropped) this.#rejected.add(item);
    const { logger } = this.#settings;
    logger.warn("the history was repaired", { reason, dropped: dropped.length });
    this.#publish({
      type: "HistoryRepaired",
      reason,
      dropped: dropped.map(({ type, id }) => ({
        type: typeof type === "string" ? type : "unknown",
        id: typeof id === "string" ? id : null,
      })),
    });
  }
}

/** A message of ours that the model reads besides the prompt. */
export function developerMessage(content: string): WireItem {
  return { type: "message", role: "developer", content };
}
