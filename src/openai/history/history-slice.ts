import { historySliceOf } from "../../adapter/history-slice.ts";
import type { Slice } from "../../session/slice.ts";
import { unprinted } from "./item-text.ts";

/**
 * The session's last conversation with OpenAI, in the provider's own items: what `continue` goes on
 * from. A turn costs what it adds, however long the conversation is.
 */
export const historySlice: Slice<readonly object[]> = historySliceOf({
  id: "openai.history",
  adapterName: "openai",
  keep: unprinted,
});
