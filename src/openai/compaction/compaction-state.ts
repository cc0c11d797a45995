import type { CompactionBackoff } from "../../adapter/context-compacted.ts";
import { copyAndFreeze, deepFreeze, isPlainObject } from "../../base/freeze.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { Slice } from "../../session/slice.ts";
import { hideEncryptedContent } from "../history/item-bytes.ts";

/** The result of a session's latest compaction. */
export interface CompactionState {
  /** The items of `window` with encrypted content, which only the provider can read. */
  readonly encryptedItems: readonly object[];
  /** The whole output of the last compaction, sent instead of everything before it. */
  readonly window: readonly object[];
  /** The conversation's token count just before the last compaction. */
  readonly lastCompactionTokens: number;
  /** The number of compactions in this session. */
  readonly compactionCount: number;
  /** The model that `window` was compacted for. No other model can read it. */
  readonly model: string | null;
  /** How far compaction has backed off. Absent if the threshold applies. */
  readonly backoff?: CompactionBackoff | undefined;
}

const emptyState: CompactionState = {
  encryptedItems: [],
  window: [],
  lastCompactionTokens: 0,
  compactionCount: 0,
  model: null,
};

/** Stores the session's compacted conversation, which the next evaluation continues. */
export const compactionSlice: Slice<CompactionState> = addLibrarySlice(
  Object.freeze({
    ...defineSlice<CompactionState>("openai.compaction", {
      initial: emptyState,
      on: {
        CompactionKept: ({ compactionCount }, { window: kept, tokens, model, backoff }) => {
          const window = kept.map(hideEncryptedContent);
          return {
            encryptedItems: findEncryptedItems(window),
            window,
            lastCompactionTokens: tokens,
            compactionCount: compactionCount + 1,
            model,
            ...(backoff && { backoff }),
          };
        },
        CompactionMeasured: ({ backoff: _estimated, ...state }, { backoff }) => ({
          ...state,
          ...(backoff && { backoff }),
        }),
        CompactionDiscarded: ({ compactionCount }) => ({ ...emptyState, compactionCount }),
      },
    }),
    load(state: unknown) {
      if (!isCompactionState(state)) return "it is not a valid compaction state";
      const window = copyAndFreeze(state.window).map(hideEncryptedContent);
      const encryptedItems = findEncryptedItems(window);
      return { kept: deepFreeze({ ...state, window, encryptedItems }) };
    },
  }),
);

function findEncryptedItems(window: readonly object[]): readonly object[] {
  return window.filter((item) => "encrypted_content" in item);
}

function isCompactionState(state: unknown): state is CompactionState {
  if (!isPlainObject(state)) return false;
  const { window, lastCompactionTokens, compactionCount, model, backoff = {} } = state;
  if (!isPlainObject(backoff)) return false;
  const counts = [lastCompactionTokens, compactionCount, ...Object.values(backoff)];
  return (
    Array.isArray(window) &&
    window.every(isPlainObject) &&
    counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0) &&
    (model === null || typeof model === "string")
  );
}
