import { deepFreeze, frozenCopy, isPlainObject } from "../../base/freeze.ts";
import { defineSlice, type Slice } from "../../session/slice.ts";
import { unprinted } from "../history/item-text.ts";

/** What a session knows of how its conversation was made shorter. */
export interface CompactionState {
  /** The items among `window` that only the provider can read. */
  readonly encryptedItems: readonly object[];
  /** All that the last compaction gave: what is sent in place of what came before. */
  readonly window: readonly object[];
  /** How many tokens the conversation had when it was last compacted. */
  readonly lastCompactionTokens: number;
  readonly compactionCount: number;
  /** The model it was compacted for, which alone can read it. */
  readonly model: string | null;
}

const none: CompactionState = {
  encryptedItems: [],
  window: [],
  lastCompactionTokens: 0,
  compactionCount: 0,
  model: null,
};

/** What the session's conversation was compacted to: the next evaluation goes on from it. */
export const compactionSlice: Slice<CompactionState> = Object.freeze({
  ...defineSlice<CompactionState>("openai.compaction", {
    initial: none,
    on: {
      CompactionKept: ({ compactionCount }, { window: kept, tokens, model }) => {
        const window = kept.map(unprinted);
        return {
          encryptedItems: encryptedIn(window),
          window,
          lastCompactionTokens: tokens,
          compactionCount: compactionCount + 1,
          model,
        };
      },
      CompactionDiscarded: ({ compactionCount }) => ({ ...none, compactionCount }),
    },
  }),
  load(state: unknown) {
    if (!isState(state)) return "it is not what a conversation was compacted to";
    const window = frozenCopy(state.window).map(unprinted);
    return { kept: deepFreeze({ ...state, window, encryptedItems: encryptedIn(window) }) };
  },
});

function encryptedIn(window: readonly object[]): readonly object[] {
  return window.filter((item) => "encrypted_content" in item);
}

function isState(state: unknown): state is CompactionState {
  if (!isPlainObject(state)) return false;
  const { window, lastCompactionTokens, compactionCount, model } = state;
  const counts = [lastCompactionTokens, compactionCount];
  return (
    Array.isArray(window) &&
    window.every(isPlainObject) &&
    counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0) &&
    (model === null || typeof model === "string")
  );
}
