import { historySliceOf } from "../../adapter/history-slice.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { maybeTextAt } from "../../base/reading.ts";
import type { Slice } from "../../session/slice.ts";
import type { Given } from "../given.ts";

/**
 * The session's last conversation on the Claude Agent SDK, in the entries of its transcript: what
 * `continue` goes on from.
 */
export const claudeHistorySlice: Slice<readonly object[]> = historySliceOf({
  id: "claude.history",
  adapterName: "claude",
});

/** What the SDK counts anew in every run, or queues for itself. */
const OF_ONE_RUN = new Set(["cost-state", "queue-operation", "last-prompt"]);

/** The transcript of one run, kept here instead of in a folder of the SDK's. */
export class Transcript {
  readonly #earlier: readonly object[];
  readonly #added: object[] = [];
  #told = 0;

  /** `earlier`: the conversation that it goes on from. */
  constructor(earlier: readonly object[]) {
    this.#earlier = earlier;
  }

  /** Of the conversation that it goes on from; `null` if there is none. */
  get sessionId(): string | null {
    for (const entry of this.#earlier) {
      const id = isPlainObject(entry) ? maybeTextAt(entry, "sessionId") : null;
      if (id !== null) return id;
    }
    return null;
  }

  /** The SDK's options that make it keep its transcript here, and continue the earlier one. */
  get options(): Given {
    const { sessionId, store } = this;
    const resume = sessionId === null ? {} : { resume: sessionId };
    return { persistSession: true, sessionStore: store, sessionStoreFlush: "eager", ...resume };
  }

  /** For the SDK's option `sessionStore`. */
  get store(): Given {
    return {
      append: async (key: Given, entries: readonly object[]) => {
        if (key["subpath"] !== undefined) return; // another agent's
        for (const entry of entries) if (!isOfOneRun(entry)) this.#added.push(entry);
      },
      load: async () => this.#earlier,
    };
  }

  /** What has come since it was last asked. */
  step(): HistoryStep {
    const kept = this.#earlier.length + this.#told;
    const added = this.#added.slice(this.#told);
    this.#told = this.#added.length;
    return { kept, added };
  }
}

function isOfOneRun(entry: object): boolean {
  return isPlainObject(entry) && OF_ONE_RUN.has(maybeTextAt(entry, "type") ?? "");
}
