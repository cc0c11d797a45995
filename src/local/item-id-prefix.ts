import type { WireItem } from "../openai/wire.ts";

/** Returns the prefix of OpenAI's ids for an item that its client sent without one: `msg_` for messages. */
export function getItemIdPrefix({ type }: WireItem): string {
  return PREFIXES.get(type) ?? "item_";
}

const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ["message", "msg_"],
  ["reasoning", "rs_"],
  ["function_call", "fc_"],
  ["function_call_output", "fco_"],
  ["custom_tool_call", "ctc_"],
  ["custom_tool_call_output", "ctco_"],
  ["shell_call_output", "sho_"],
  ["apply_patch_call_output", "apco_"],
  ["compaction", "cmp_"],
]);
