import { expect, test } from "vitest";
import { readSources } from "../scripts/layout/import-graph.ts";
import "../src/index.ts";
import "../src/openai/index.ts";
import { listLibrarySlices } from "../src/session/library-slices.ts";

test("Session.open knows every slice of the entry points before the first evaluation", () => {
  const definition = /\baddLibrarySlice\([\s\S]{0,200}?"((?:wink|openai)\.\w+)"/g;
  const code = [...readSources("src").values()].join("\n");
  const defined = [...code.matchAll(definition)].map(([, id]) => id);
  expect(defined.length).toBeGreaterThan(8);
  expect(
    listLibrarySlices()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(defined.sort());
});
