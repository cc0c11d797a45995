import { InvalidOptionError } from "../../base/errors.ts";

/**
 * An id as one part of a path. It may come from a provider, so it may be anything: it is encoded,
 * and what would change the path all the same is refused.
 */
export function pathPart(id: string, field: string): string {
  const isPart = typeof id === "string" && !/^\.{0,2}$|[\\/]|\p{Cc}/u.test(id) && id.isWellFormed();
  if (isPart) return encodeURIComponent(id);
  const rule = 'must be an id: neither empty, "." nor "..", without slashes and control characters';
  throw new InvalidOptionError({
    field,
    value: id,
    rule,
    remedy: "pass it as the provider gave it",
  });
}
