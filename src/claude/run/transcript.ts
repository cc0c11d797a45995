import { createHistorySlice } from "../../adapter/history-slice.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readStringOrNull, type UnknownRecord } from "../../base/json.ts";
import type { Slice } from "../../session/slice.ts";

/**
 * The session's last conversation on the Claude Agent SDK, as transcript entries. An evaluation with
 * `continue` resumes it.
 */
export const claudeHistorySlice: Slice<readonly object[]> = createHistorySlice({
  id: "claude.history",
  adapterName: "claude",
});

/** Entry types that the SDK writes in every run, or uses as an internal queue. */
const RUN_SPECIFIC = new Set(["cost-state", "queue-operation", "last-prompt"]);

/** Stores the transcript of one run in memory instead of in the SDK's folder. */
export class Transcript {
  readonly #earlier: readonly object[];
  readonly #added: object[] = [];
  #reportedCount = 0;

  /** `earlier` is the conversation to continue. */
  constructor(earlier: readonly object[]) {
    this.#earlier = earlier;
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
      },
      load: async () => this.#earlier,
    };
  }

  /** Returns the entries since the last call. */
  takeStep(): HistoryStep {
    const kept = this.#earlier.length + this.#reportedCount;
    const added = this.#added.slice(this.#reportedCount);
    this.#reportedCount = this.#added.length;
    return { kept, added };
  }
}

function isRunSpecific(entry: object): boolean {
  return isPlainObject(entry) && RUN_SPECIFIC.has(readStringOrNull(entry, "type") ?? "");
}
