import { addLibrarySlice } from "../session/library-slices.ts";
import { logSlice } from "../session/log-slice.ts";
import type { Slice } from "../session/slice.ts";
import type { PromptExecuted, ToolInvoked } from "./events.ts";

/**
 * Log of every `ToolInvoked` of a session. Call `session.register(toolLog)`, then
 * `session.get(toolLog)`.
 */
export const toolLog: Slice<readonly ToolInvoked[]> = addLibrarySlice(
  logSlice("wink.tools", "ToolInvoked"),
);

/** Log of every `PromptExecuted` of a session. Register it like `toolLog`. */
export const promptLog: Slice<readonly PromptExecuted[]> = addLibrarySlice(
  logSlice("wink.prompts", "PromptExecuted"),
);
