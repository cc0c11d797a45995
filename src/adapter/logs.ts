import { logSlice } from "../session/log-slice.ts";
import type { Slice } from "../session/slice.ts";
import type { PromptExecuted, ToolInvoked } from "./events.ts";

/** Every `ToolInvoked` of a session: `session.register(toolLog)`, then `session.get(toolLog)`. */
export const toolLog: Slice<readonly ToolInvoked[]> = logSlice("wink.tools", "ToolInvoked");

/** Every `PromptExecuted` of a session. */
export const promptLog: Slice<readonly PromptExecuted[]> = logSlice(
  "wink.prompts",
  "PromptExecuted",
);
