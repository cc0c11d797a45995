import { maybeTextAt, recordAt, recordsAt } from "../../base/reading.ts";
import type { WireItem, WireTool } from "../wire.ts";

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
