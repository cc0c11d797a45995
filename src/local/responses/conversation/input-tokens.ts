import type { WireItem } from "../../../openai/wire.ts";
import type { Conversation } from "./conversation.ts";

/** What a request comes to, by the one measure that usage, counting and compaction share. */
export function inputTokens(
  request: { readonly instructions: string | null; readonly tools: readonly WireItem[] },
  { bytes }: Pick<Conversation, "bytes">,
): number {
  const { instructions, tools } = request;
  const frame = JSON.stringify({ instructions, items: [], tools });
  return Math.ceil((Buffer.byteLength(frame) - "[]".length + bytes) / 4);
}
