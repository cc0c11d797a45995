/** Formats an amount in US dollars, with enough digits for small ones. Returns `-` if it is not known. */
export function formatUsd(usd: number | null): string {
  return usd === null ? "-" : `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}
