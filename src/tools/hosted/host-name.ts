import { PromptValidationError } from "../../base/errors.ts";

/** Refuses what is no bare host name with a dot in it, like `"cdc.gov"`, in ASCII or punycode. */
export function checkHostName(value: unknown, field: string): void {
  if (typeof value === "string" && isHostName(value)) return;
  const meant = typeof value === "string" ? hostNameIn(value) : null;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be a bare host name, without scheme, port, path or wildcard",
    remedy: meant === null ? 'write one like "cdc.gov"' : `write "${meant}"`,
  });
}

function isHostName(text: string): boolean {
  const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  return text.length <= 253 && new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`, "i").test(text);
}

/** The host name somebody meant by an address, a wildcard or a name in its own script. */
function hostNameIn(text: string): string | null {
  const address = text
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
    .replace(/^\*?\./, "");
  const host = URL.parse(`http://${address}`)?.hostname.replace(/\.$/, "") ?? "";
  return isHostName(host) ? host : null;
}
