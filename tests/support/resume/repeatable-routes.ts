import { hash } from "node:crypto";
import { readRecords } from "../../../src/base/json.ts";
import { compactionRoutes, createEncryptedItem } from "../compaction/compaction-routes.ts";

/** Compaction routes whose answers depend on the request only. A count is ten tokens for each item. */
export const { routes: repeatableRoutes } = compactionRoutes({
  tokens: (_nth, { body }) => 10 * readRecords(body, "input").length,
  window: (_nth, { body, text }) => [
    ...readRecords(body, "input").filter(({ role }) => role === "user"),
    createEncryptedItem(toNumber(text)),
  ],
});

/** Returns a number that differs for different texts, also of the same length. */
function toNumber(text: string): number {
  return Number.parseInt(hash("sha256", text).slice(0, 8), 16);
}
