import type { WireItem } from "../openai/wire.ts";

/**
 * Returns the prefix of OpenAI's ids for an item that its client sent without one. Most prefixes are the initials of the
 * type, such as `fco_` for `function_call_output`.
 */
export function getItemIdPrefix({ type }: WireItem): string {
  const words = String(type).split("_");
  return PREFIXES.get(type) ?? `${words.map((word) => word.slice(0, 1)).join("")}_`;
}

/** The prefixes that are not initials. */
const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ["message", "msg_"],
  ["reasoning", "rs_"],
  ["shell_call_output", "sho_"],
  ["compaction", "cmp_"],
]);
