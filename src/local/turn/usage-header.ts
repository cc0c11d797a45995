import type { UsageMeter } from "./usage-meter.ts";

const NAME = "x-wink-usage";
const ESTIMATED = "estimated";

/** The header of a response whose usage is an estimate. */
export const USAGE_HEADER: Readonly<Record<string, string>> = { [NAME]: ESTIMATED };

/** The comment in a stream whose headers were sent before a call of the model reported no usage. */
export const USAGE_COMMENT = `: ${NAME}: ${ESTIMATED}\n\n`;

/**
 * Returns the header of a response whose usage is an estimate; no header if the model reported it, or has not answered
 * yet.
 */
export function createUsageHeader(usage: UsageMeter): Readonly<Record<string, string>> {
  return usage.reported || usage.isPending ? {} : USAGE_HEADER;
}
