import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ForcedCall, ToolRecord } from "../tools/tool-record.ts";
import { readLastText } from "../turn/read-last-text.ts";

/** The parts of a request that decide whether it forces a call. */
export interface ForcedRequest {
  readonly items: readonly WireItem[];
  readonly toolChoice: unknown;
}

/** A call that any model would make. */
export interface FoundCall {
  readonly tool: ToolRecord;
  readonly args: WireItem;
  readonly forced: ForcedCall;
}

/**
 * Finds the call that a request forces: it names one tool, and its last message contains the arguments, so the
 * model is not called. Returns `null` for all other requests.
 */
export function findForcedCall(
  { items, toolChoice }: ForcedRequest,
  { byChoice }: ToolCatalog,
): FoundCall | null {
  const tool = byChoice.get(Object(toolChoice)["type"]);
  const forced = tool?.forced;
  if (!forced || items.at(-1)?.["role"] !== "user") return null;
  const args = forced.readArgs(readLastText(items));
  return args && { tool, args, forced };
}
