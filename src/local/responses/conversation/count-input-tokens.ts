import type { WireItem } from "../../../openai/wire.ts";
import type { Conversation } from "./conversation.ts";

/** Counts the input tokens of a request. Usage, token counting and compaction all use this count. */
export function countInputTokens(
  request: { readonly instructions: string | null; readonly tools: readonly WireItem[] },
  { bytes }: Pick<Conversation, "bytes">,
): number {
  const { instructions, tools } = request;
  const isPlain = instructions === null && tools.length === 0;
  const frame = isPlain ? PLAIN_FRAME : JSON.stringify({ instructions, items: [], tools });
  return Math.ceil((Buffer.byteLength(frame) - "[]".length + bytes) / 4);
}

const PLAIN_FRAME = JSON.stringify({ instructions: null, items: [], tools: [] });
