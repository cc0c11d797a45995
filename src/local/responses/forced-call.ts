import type { WireItem } from "../../openai/wire.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ForcedCall, ToolRecord } from "../tools/tool-record.ts";
import { lastText } from "../turn/last-text.ts";

/** What decides whether a request leaves the model no choice. */
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
 * Finds the call of a request that forces one tool and whose last message is all that the call needs: no model
 * has to be asked. `null` for all other requests.
 */
export function findForcedCall(
  { items, toolChoice }: ForcedRequest,
  { byChoice }: ToolCatalog,
): FoundCall | null {
  const tool = byChoice.get(Object(toolChoice)["type"]);
  const forced = tool?.forced;
  if (!forced || items.at(-1)?.["role"] !== "user") return null;
  const args = forced.readArgs(lastText(items));
  return args && { tool, args, forced };
}
