import { createHistorySlice } from "../../adapter/history-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { Slice } from "../../session/slice.ts";
import { hideEncryptedContent } from "./item-bytes.ts";

/**
 * Stores the session's last conversation with OpenAI as wire items; `continue: true` continues it.
 * The cost of storing a turn does not grow with the conversation.
 */
export const historySlice: Slice<readonly object[]> = addLibrarySlice(
  createHistorySlice({
    id: "openai.history",
    adapterName: "openai",
    keep: hideEncryptedContent,
  }),
);
