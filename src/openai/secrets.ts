import { readRecord, readRecords, readStringOrNull } from "../base/json.ts";
import { redactText } from "../base/redact.ts";
import type { WireItem, WireTool } from "./wire.ts";

/**
 * The key of a client's method that returns its secrets. It is a method because inspecting an
 * object prints the values of its properties.
 */
export const SECRETS: unique symbol = Symbol("secrets");

/**
 * Returns the secrets of a client, built-in or official. They must not appear in errors or logs.
 */
export function readSecrets(client: object): readonly string[] {
  if (SECRETS in client && typeof client[SECRETS] === "function")
    return filterStrings(client[SECRETS]());
  return "apiKey" in client ? filterStrings([client.apiKey]) : [];
}

/** Finds the credentials among headers or query parameters, judging by their names. */
export function findCredentials(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values)
    .filter(([name]) => CREDENTIAL.test(name))
    .flatMap(([, value]) => [value, ...splitCredential(value)]);
}

const CREDENTIAL = /auth|cookie|credential|key|password|secret|signature|token/i;

/** Splits off the secret itself: `x` in `"Bearer x"`, and each value of a cookie. */
function splitCredential(value: string): readonly string[] {
  return value.split(";").map((part) => part.trim().replace(/^(?:[A-Za-z]+ +|[^=\s]+=)/, ""));
}

function filterStrings(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

/** Collects the secrets in a request's tools: MCP authorization and headers, domain secrets. */
export function collectToolSecrets(tools: readonly WireTool[]): readonly string[] {
  return tools.flatMap((entry) => {
    const tool: WireItem = { ...entry };
    const headers = Object.values(readRecord(tool, "headers"));
    const places = [readRecord(tool, "container"), readRecord(tool, "environment")];
    const secrets = places
      .flatMap((place) => readRecords(readRecord(place, "network_policy"), "domain_secrets"))
      .map((secret) => readStringOrNull(secret, "value"));
    const all = [readStringOrNull(tool, "authorization"), ...headers, ...secrets];
    return all.filter((value) => typeof value === "string");
  });
}

/** Reads the request id from a response's headers, without secrets. */
export function readRequestIdHeader(
  header: (name: string) => string | null,
  secrets: readonly string[],
): string | null {
  const id = header("x-request-id");
  return id === null ? null : redactText(id, secrets);
}
