import { maybeTextAt, recordAt, recordsAt } from "../base/reading.ts";
import { scrubbedText } from "../base/scrubbed.ts";
import type { WireItem, WireTool } from "./wire.ts";

/** A client's method that gives what must not be shown: a getter's value could be printed. */
export const SECRETS: unique symbol = Symbol("secrets");

/** What must not be shown of a client, ours or the official one. */
export function secretsOf(client: object): readonly string[] {
  if (SECRETS in client && typeof client[SECRETS] === "function") return textsOf(client[SECRETS]());
  return "apiKey" in client ? textsOf([client.apiKey]) : [];
}

/** The values of headers or of a query whose names say that they are credentials. */
export function secretsAmong(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values)
    .filter(([name]) => CREDENTIAL.test(name))
    .flatMap(([, value]) => [value, ...partsOf(value)]);
}

const CREDENTIAL = /auth|cookie|credential|key|password|secret|signature|token/i;

/** `"Bearer x"` says `x` too, and a cookie each of its values. */
function partsOf(value: string): readonly string[] {
  return value.split(";").map((part) => part.trim().replace(/^(?:[A-Za-z]+ +|[^=\s]+=)/, ""));
}

function textsOf(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

/** What a request's tools hold that no error may say: tokens of MCP servers, secrets of domains. */
export function toolSecrets(tools: readonly WireTool[]): readonly string[] {
  return tools.flatMap((entry) => {
    const tool: WireItem = { ...entry };
    const headers = Object.values(recordAt(tool, "headers"));
    const places = [recordAt(tool, "container"), recordAt(tool, "environment")];
    const secrets = places
      .flatMap((place) => recordsAt(recordAt(place, "network_policy"), "domain_secrets"))
      .map((secret) => maybeTextAt(secret, "value"));
    const all = [maybeTextAt(tool, "authorization"), ...headers, ...secrets];
    return all.filter((value) => typeof value === "string");
  });
}

/** The id that an answer came with. */
export function requestIdIn(
  header: (name: string) => string | null,
  secrets: readonly string[],
): string | null {
  const id = header("x-request-id");
  return id === null ? null : scrubbedText(id, secrets);
}
