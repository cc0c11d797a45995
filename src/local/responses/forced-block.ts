import type { WireItem } from "../../openai/wire.ts";
import { lastText } from "../turn/last-text.ts";

/** What is looked at to see whether a request leaves the model nothing to decide. */
export interface ForcedRequest {
  readonly items: readonly WireItem[];
  readonly toolChoice: unknown;
}

/**
 * The Python of a request that forces the code interpreter and has exactly one block of it in its
 * last message: any model would run that, so that none is asked. `null` for all other requests.
 */
export function forcedBlock({ items, toolChoice }: ForcedRequest): string | null {
  const { type } = Object(toolChoice);
  if (type !== "code_interpreter" || items.at(-1)?.["role"] !== "user") return null;
  const blocks = [...lastText(items).matchAll(BLOCK)];
  return blocks.length === 1 ? (blocks[0]?.[1] ?? null) : null;
}

const BLOCK = /^```python\n([\s\S]*?)\n```[ \t]*$/gm;
