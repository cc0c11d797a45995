import { InvalidOptionError } from "../../base/errors.ts";

/** How long a claim lasts if its holder does not extend it. */
export const DEFAULT_LEASE_MS = 15_000;

/** The longest lease: a day. One that ends later was made before the clock was set back, and is over. */
export const MAX_LEASE_MS = 86_400_000;

/** Returns the duration of a lease, or throws `InvalidOptionError` for an invalid one. */
export function checkLease(leaseMs: number, field: string): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs >= 100 && leaseMs <= MAX_LEASE_MS) return leaseMs;
  throw new InvalidOptionError({
    field,
    value: leaseMs,
    rule: "must be a whole number of milliseconds from 100 to 86,400,000",
    remedy: "omit it for 15 seconds",
  });
}
