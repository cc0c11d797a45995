/** Allowed and blocked domains. */
export interface DomainRules {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}

/** Whether an address is in an allowed domain, if any are set, and not in a blocked one. */
export function isAllowedDomain(
  address: string,
  { allowedDomains = [], blockedDomains = [] }: DomainRules,
): boolean {
  const host = new URL(address).hostname;
  const isIn = (domain: string) => isInDomain(host, domain.trim().toLowerCase());
  return (allowedDomains.length === 0 || allowedDomains.some(isIn)) && !blockedDomains.some(isIn);
}

/** Whether `host` is the domain or a subdomain: `docs.example.com` is in `example.com`, `badexample.com` is not. */
function isInDomain(host: string, domain: string): boolean {
  return host === domain || (domain !== "" && host.endsWith(`.${domain}`));
}
