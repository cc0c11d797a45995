import type { AdapterEvent } from "../../adapter/events.ts";
import { deepFreeze } from "../../base/freeze.ts";
import type { MessageRole } from "../../prompt/message-role.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { History, type HistoryMark } from "../history/history.ts";
import { findRepair, getContainerId } from "../history/history-repairs.ts";
import { historySlice } from "../history/history-slice.ts";
import { type ResumePoint, resumePointSlice } from "../history/resume-point.ts";
import type { WireItem } from "../wire.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import type { CarriedOverWindow } from "./conversation-window.ts";

/** The texts of a prompt by role; `null` for a role without text. */
export type PromptTexts = Readonly<Record<MessageRole, string | null>>;

/** The start of a conversation: a prompt, or the stored history of an interrupted evaluation. */
export type ConversationStart =
  | PromptStart
  | { readonly carried: CarriedOverWindow; readonly resumed: ResumePoint };

/** The start of a conversation whose evaluation begins. */
export interface PromptStart {
  /** The compacted window of an earlier conversation. */
  readonly carried: CarriedOverWindow;
  readonly prompt: PromptTexts;
  /** Whether the first turn has messages of the user. */
  readonly hasUserMessages: boolean;
}

/** The items and notes that one turn adds to the history. */
export interface NewTurn {
  readonly turn: number;
  readonly prompt: PromptTexts;
  readonly items: readonly WireItem[];
  /** Notes from the workspace to the model. They are added last. */
  readonly notes: readonly string[];
  /** The ids of the adapter's containers that no longer exist. */
  readonly lostContainers: ReadonlySet<string>;
}

/** Whether a failed turn has left its items in the history, because compaction cannot be undone. */
type Appended =
  | { readonly state: "new" }
  | { readonly state: "compacted"; readonly turn: number; readonly notes: ReadonlySet<string> };

/**
 * The history of one conversation, repaired so that the provider accepts it. Every repair publishes a
 * `HistoryRepaired` event.
 */
export class ConversationHistory {
  /** Whether it starts with the compacted window of an earlier conversation. */
  readonly startsCompacted: boolean;
  readonly #settings: ConversationSettings;
  readonly #publish: (event: AdapterEvent) => void;
  readonly #history: History;
  /** Items that were dropped because the provider rejects them. */
  #rejectedItems: ReadonlySet<WireItem> = NO_ITEMS;
  #appended: Appended = { state: "new" };
  #restorePoint: HistoryMark;
  /** The number of lost containers whose calls were already removed from the history. */
  #purgedContainers = 0;

  /** Starts with the stored history if the evaluation continues it, otherwise with the carried-over window. */
  constructor(
    settings: ConversationSettings,
    publish: (event: AdapterEvent) => void,
    start: ConversationStart,
  ) {
    const { session, continues, modelConfig } = settings;
    this.#settings = settings;
    this.#publish = publish;
    session.register(historySlice);
    if (session.isStored) session.register(resumePointSlice);
    const resumed = "resumed" in start ? start.resumed : undefined;
    const items = continues || resumed ? session.get(historySlice) : [];
    const history = new History({ stored: modelConfig.store !== false, items, resumed });
    this.#history = history;
    this.#reportRepair("the stored history was incomplete", history.dropped);
    const { carried } = start;
    if (carried.discarded !== null) {
      const compactions = history.drop(({ type }) => type === "compaction");
      this.#reportRepair(carried.discarded, compactions);
    }
    this.startsCompacted = items.length === 0 && carried.items.length > 0;
    if ("prompt" in start) this.#startWithPrompt(start);
    else if (start.resumed.nextNotes) {
      this.keepCompacted(start.resumed.turn + 1, start.resumed.nextNotes);
    }
    this.#restorePoint = history.mark();
  }

  /** The underlying history. */
  get history(): History {
    return this.#history;
  }

  /** Sets the point that `restore` returns to, until the turn is compacted. */
  startTurn(): void {
    this.#restorePoint = this.#history.mark();
  }

  /** Adds a turn. Items that an earlier attempt of this turn left behind are not added twice. */
  append({ turn, prompt, items, notes, lostContainers }: NewTurn): void {
    const history = this.#history;
    const before = this.#appended;
    const alreadyAppended = before.state === "compacted" && before.turn === turn;
    const isOpening = turn === 1 && !alreadyAppended;
    history.setPrompt(prompt.system);
    if (isOpening) history.startOpening();
    // After the first turn, new text for the user follows the outputs: they belong to their calls.
    if (isOpening) history.setPrompt(prompt.user, "user");
    const unsent = alreadyAppended ? notes.filter((note) => !before.notes.has(note)) : notes;
    history.add([...(alreadyAppended ? [] : items), ...unsent.map(developerMessage)]);
    if (!isOpening) history.setPrompt(prompt.user, "user");
    this.#purgeLostContainers(lostContainers);
    this.#reportRepair("a call had incomplete arguments or no output", history.dropInvalid());
  }

  /** Called when the turn was compacted into the history. Its items stay even if the turn fails. */
  keepCompacted(turn: number, notes: readonly string[]): void {
    this.#restorePoint = this.#history.mark();
    this.#appended = { state: "compacted", turn, notes: new Set(notes) };
  }

  /** Adds the items of the turn's response. */
  completeTurn(items: readonly WireItem[]): void {
    this.#history.endOpening();
    this.#history.addParsed(deepFreeze(items));
    this.#appended = { state: "new" };
  }

  /** Undoes a failed turn. Repairs stay. */
  restore(): void {
    this.#history.restore(this.#restorePoint);
    if (this.#rejectedItems.size > 0) this.#history.drop((item) => this.#rejectedItems.has(item));
  }

  /** Drops the calls that ran in a replaced container, and adds notes for the model. */
  replaceContainer(containerId: string, notes: readonly string[]): void {
    const dropped = this.#history.drop((item) => getContainerId(item) === containerId);
    this.#reportRepair(`container "${containerId}" no longer exists`, dropped);
    this.#history.add(notes.map(developerMessage));
  }

  /**
   * Drops the items that an error of the provider is about. `alive` is a container that is known to
   * exist. Returns whether items were dropped.
   */
  repair(error: OpenAIRequestError, alive: string | null): boolean {
    const repair = findRepair(error, this.#history.items, alive);
    const dropped = repair ? this.#history.drop((item) => repair.matches(item)) : [];
    if (repair) this.#reportRepair(repair.reason, dropped);
    return dropped.length > 0;
  }

  #startWithPrompt({ prompt, hasUserMessages, carried }: PromptStart): void {
    const history = this.#history;
    // System text that the conversation already has is sent again only if there is nothing else to
    // answer: no message of the user, and no output of a call.
    if (prompt.system !== null && (hasUserMessages || history.endsWithInput)) {
      history.adoptSystemText(prompt.system);
    }
    if (!this.startsCompacted) return;
    history.setPrompt(prompt.system);
    history.add(carried.items);
  }

  /** Drops the calls that ran in lost containers, once per container. */
  #purgeLostContainers(lost: ReadonlySet<string>): void {
    if (lost.size === this.#purgedContainers) return;
    this.#purgedContainers = lost.size;
    const dropped = this.#history.drop((item) => lost.has(getContainerId(item) ?? ""));
    this.#reportRepair("a container that calls ran in no longer exists", dropped);
  }

  #reportRepair(reason: string, dropped: readonly WireItem[]): void {
    if (dropped.length === 0) return;
    this.#rejectedItems = new Set([...this.#rejectedItems, ...dropped]);
    const { logger } = this.#settings;
    logger.warn("repaired the history", { reason, dropped: dropped.length });
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

const NO_ITEMS: ReadonlySet<WireItem> = new Set();

/** Creates a developer message, for notes to the model that are not part of the prompt. */
export function developerMessage(content: string): WireItem {
  return { type: "message", role: "developer", content };
}
