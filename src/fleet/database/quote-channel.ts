import { quoteValue } from "../../base/quote-value.ts";
import { FleetError } from "../fleet-error.ts";

/** Quotes the name of a channel for LISTEN. Throws `FleetError` if PostgreSQL would shorten it or refuse it. */
export function quoteChannel(channel: string): string {
  const { length } = new TextEncoder().encode(channel);
  if (length < 1 || length > MAX_BYTES || channel.includes("\0")) {
    const got = quoteValue(channel);
    throw new FleetError(
      `A channel's name must have 1 to ${MAX_BYTES} bytes, none of them NUL, got ${got}. Use a shorter schema.`,
    );
  }
  return `"${channel.replaceAll('"', '""')}"`;
}

const MAX_BYTES = 63;
