import { createHistorySlice } from "../../adapter/history-slice.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readStringOrNull, type UnknownRecord } from "../../base/json.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { Slice } from "../../session/slice.ts";
import { type CallResult, createResultEntries, listContents } from "./call-results.ts";

/**
 * The session's last conversation on the Claude Agent SDK, as transcript entries. An evaluation with
 * `continue` resumes it.
 */
export const claudeHistorySlice: Slice<readonly object[]> = addLibrarySlice(
  createHistorySlice({
    id: "claude.history",
    adapterName: "claude",
  }),
);

/** Entry types that the SDK writes in every run, or uses as an internal queue. */
const RUN_SPECIFIC = new Set(["cost-state", "queue-operation", "last-prompt"]);

/** Longest wait for entries, which the SDK writes a few milliseconds after its messages. */
const WAIT_MS = 2_000;

/** Stores the transcript of one run in memory instead of in the SDK's folder. */
export class Transcript {
  readonly #earlier: readonly object[];
  readonly #answered: readonly object[];
  readonly #added: object[];
  /** Results that the SDK writes later, of the calls in the last batch. */
  #batch: ReadonlyMap<string, CallResult> = new Map();
  #reportedCount = 0;
  #appended = Promise.withResolvers<void>();

  /**
   * `earlier` is the conversation to continue, and `results` are those of its calls that have none in it,
   * because the process was lost.
   */
  constructor(earlier: readonly object[], results: ReadonlyMap<string, CallResult> = new Map()) {
    this.#earlier = earlier;
    this.#answered = results.size > 0 ? createResultEntries(earlier, results) : [];
    this.#added = [...this.#answered];
  }

  /** The id of the conversation to continue; `null` if there is none. */
  get sessionId(): string | null {
    for (const entry of this.#earlier) {
      const id = isPlainObject(entry) ? readStringOrNull(entry, "sessionId") : null;
      if (id !== null) return id;
    }
    return null;
  }

  /** The SDK's options to store its transcript here and to resume the earlier conversation. */
  get options(): UnknownRecord {
    const { sessionId, store } = this;
    const resume = sessionId === null ? {} : { resume: sessionId };
    return { persistSession: true, sessionStore: store, sessionStoreFlush: "eager", ...resume };
  }

  /** The SDK's option `sessionStore`. */
  get store(): UnknownRecord {
    return {
      append: async (key: UnknownRecord, entries: readonly object[]) => {
        if (key["subpath"] !== undefined) return; // a subagent's entries
        for (const entry of entries) if (!isRunSpecific(entry)) this.#added.push(entry);
        this.#appended.resolve();
        this.#appended = Promise.withResolvers<void>();
      },
      load: async () => [...this.#earlier, ...this.#answered],
    };
  }

  /** Sets the results of a batch of calls, which the SDK writes after the next step. */
  setBatch(results: ReadonlyMap<string, CallResult>): void {
    this.#batch = results;
  }

  /**
   * Waits until the SDK has written these contents (see `listContents`) since the last step. Returns after
   * two seconds even if it has not.
   */
  async waitFor(contents: readonly string[]): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, WAIT_MS);
    while (!isLate && !this.#hasAll(contents))
      await Promise.race([this.#appended.promise, timeout]);
    clearTimeout(timer);
  }

  /**
   * Returns the entries since the last call. Results that the SDK has not written yet are added in its
   * format; the next step replaces them.
   */
  takeStep(): HistoryStep {
    const kept = this.#earlier.length + this.#reportedCount;
    const added = this.#added.slice(this.#reportedCount);
    this.#reportedCount = this.#added.length;
    if (this.#batch.size > 0) added.push(...createResultEntries(added, this.#batch));
    this.#batch = new Map();
    return { kept, added };
  }

  #hasAll(contents: readonly string[]): boolean {
    const found = new Set(listContents(this.#added.slice(this.#reportedCount)));
    return contents.every((content) => found.has(content));
  }
}

function isRunSpecific(entry: object): boolean {
  return isPlainObject(entry) && RUN_SPECIFIC.has(readStringOrNull(entry, "type") ?? "");
}
