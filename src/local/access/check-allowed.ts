import { InvalidOptionError } from "../../base/errors.ts";
import { parseAuthority } from "./parse-authority.ts";

const refuse = InvalidOptionError.at("LocalProvider");

/** Validates `allowedHosts` and returns the names in lower case. */
export function checkAllowedHosts(hosts: unknown = []): readonly string[] {
  const rule = "must be an array of host names without a port";
  return checkList("allowedHosts", hosts, { rule, remedy: 'use ["wink.test"]' }, (name) =>
    parseAuthority(name) === name || parseAuthority(name) === name.slice(1, -1)
      ? parseAuthority(name)
      : null,
  );
}

/** Validates `allowedOrigins` and returns them in lower case, as browsers send them. */
export function checkAllowedOrigins(origins: unknown = []): readonly string[] {
  const rule = "must be an array of origins: a scheme, a host and a port";
  const remedy = 'use ["http://localhost:5173"]; to allow every page, set an apiKey instead';
  return checkList("allowedOrigins", origins, { rule, remedy }, (origin) =>
    ORIGIN.test(origin) ? origin : null,
  );
}

/** No wildcard, no `null`, and nothing after the port. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[a-z\d.:[\]_-]+$/i;

function checkList(
  field: string,
  list: unknown,
  { rule, remedy }: { readonly rule: string; readonly remedy: string },
  read: (one: string) => string | null,
): readonly string[] {
  if (!Array.isArray(list)) throw refuse(field, list, rule, remedy);
  const found = list.map((one: unknown) => (typeof one === "string" ? read(one) : null));
  const wrong = found.indexOf(null);
  if (wrong >= 0) throw refuse(`${field}[${wrong}]`, list[wrong], rule, remedy);
  return found.map((one) => String(one).toLowerCase());
}
