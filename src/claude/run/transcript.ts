import { historySliceOf } from "../../adapter/history-slice.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { maybeTextAt } from "../../base/reading.ts";
import type { Slice } from "../../session/slice.ts";

/**
 * The session's last conversation on the Claude Agent SDK, as entries of its transcript. An
 * evaluation with `continue` starts from it.
 */
export const claudeHistorySlice: Slice<readonly object[]> = historySliceOf({
  id: "claude.history",
  adapterName: "claude",
});

/** Entries that the SDK writes again in every run, or uses as its own queue. */
const RUN_SPECIFIC = new Set(["cost-state", "queue-operation", "last-prompt"]);

/** Keeps the transcript of one run in memory instead of in a folder of the SDK. */
export class Transcript {
  readonly #earlier: readonly object[];
  readonly #added: object[] = [];
  #told = 0;

  /** `earlier` is the conversation to continue. */
  constructor(earlier: readonly object[]) {
    this.#earlier = earlier;
  }

  /** The id of the conversation to continue; `null` if there is none. */
  get sessionId(): string | null {
    for (const entry of this.#earlier) {
      const id = isPlainObject(entry) ? maybeTextAt(entry, "sessionId") : null;
      if (id !== null) return id;
    }
    return null;
  }

  /** The SDK's options that make it keep its transcript here, and continue the earlier one. */
  get options(): UnknownRecord {
    const { sessionId, store } = this;
    const resume = sessionId === null ? {} : { resume: sessionId };
    return { persistSession: true, sessionStore: store, sessionStoreFlush: "eager", ...resume };
  }

  /** For the SDK's option `sessionStore`. */
  get store(): UnknownRecord {
    return {
      append: async (key: UnknownRecord, entries: readonly object[]) => {
        if (key["subpath"] !== undefined) return; // of another agent
        for (const entry of entries) if (!isRunSpecific(entry)) this.#added.push(entry);
      },
      load: async () => this.#earlier,
    };
  }

  /** Returns what was added since the last call. */
  step(): HistoryStep {
    const kept = this.#earlier.length + this.#told;
    const added = this.#added.slice(this.#told);
    this.#told = this.#added.length;
    return { kept, added };
  }
}

function isRunSpecific(entry: object): boolean {
  return isPlainObject(entry) && RUN_SPECIFIC.has(maybeTextAt(entry, "type") ?? "");
}
