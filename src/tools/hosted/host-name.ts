import { PromptValidationError } from "../../base/errors.ts";

/** Accepts only a bare host name with a dot, such as `"cdc.gov"`, in ASCII or punycode. */
export function checkHostName(value: unknown, field: string): void {
  if (typeof value === "string" && isHostName(value)) return;
  const meant = typeof value === "string" ? extractHostName(value) : null;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be a bare host name, without scheme, port, path or wildcard",
    remedy: meant === null ? 'use a name such as "cdc.gov"' : `use "${meant}"`,
  });
}

function isHostName(text: string): boolean {
  const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  return text.length <= 253 && new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`, "i").test(text);
}

/** Extracts the host name from a URL, a wildcard or an internationalized name. */
function extractHostName(text: string): string | null {
  const address = text
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
    .replace(/^\*?\./, "");
  const host = URL.parse(`http://${address}`)?.hostname.replace(/\.$/, "") ?? "";
  return isHostName(host) ? host : null;
}
