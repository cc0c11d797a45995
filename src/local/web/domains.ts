/** Domains to keep to, and to keep from. */
export interface DomainRules {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}

/** Whether an address is in an allowed domain, if any are given, and in no blocked one. */
export function isWithin(
  address: string,
  { allowedDomains = [], blockedDomains = [] }: DomainRules,
): boolean {
  const host = new URL(address).hostname;
  const isIn = (domain: string) => isOf(host, domain.trim().toLowerCase());
  return (allowedDomains.length === 0 || allowedDomains.some(isIn)) && !blockedDomains.some(isIn);
}

/** The domain itself or one below it: `docs.example.com` is of `example.com`, `badexample.com` is not. */
function isOf(host: string, domain: string): boolean {
  return host === domain || (domain !== "" && host.endsWith(`.${domain}`));
}
