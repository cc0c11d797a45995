import { historySliceOf } from "../../adapter/history-slice.ts";
import type { Slice } from "../../session/slice.ts";
import { unprinted } from "./item-text.ts";

/**
 * Stores the session's last conversation with OpenAI as wire items; `continue: true` continues it.
 * The cost of storing a turn does not grow with the conversation.
 */
export const historySlice: Slice<readonly object[]> = historySliceOf({
  id: "openai.history",
  adapterName: "openai",
  keep: unprinted,
});
