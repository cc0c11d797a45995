import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { type Client, type ClientName, FEATURES, findClient } from "./clients.ts";
import { readColumn } from "./guide-table.ts";

/** The tests of one client, by the feature that each proves. */
export type ClientTests = Readonly<Record<string, () => Promise<void>>>;

/**
 * Runs a client's tests, one per feature. Each feature needs a test, or a reason in `clients.ts` why the client
 * has none. The client's column in the guide must say the same.
 */
export function describeClient(name: ClientName, tests: ClientTests): void {
  const client = findClient(name);
  describe(name, () => {
    for (const [feature, run] of Object.entries(tests)) test(feature, run);

    test("the features of the client are tested or have a reason", () => {
      const listed = [...Object.keys(tests), ...Object.keys(client.missing)];
      expect(listed.toSorted()).toEqual([...FEATURES].toSorted());
    });

    test("the guide's table has the client's features: run `npm run clients:table`", async () => {
      const guide = await readFile(
        new URL("../../../docs/guides/local.md", import.meta.url),
        "utf8",
      );
      expect(readColumn(guide, name)).toEqual(createColumn(client, tests));
    });
  });
}

function createColumn(client: Client, tests: ClientTests): Readonly<Record<string, string>> {
  const cells = FEATURES.map((feature) => {
    return [feature, feature in tests ? "yes" : (client.missing[feature] ?? "")] as const;
  });
  return Object.fromEntries(cells);
}
