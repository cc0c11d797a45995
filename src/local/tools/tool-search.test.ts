import { expect, test } from "vitest";
import { toolSearch } from "./tool-search.ts";

test.each([
  [
    [
      { type: "function", name: "look" },
      { type: "namespace", name: "birds" },
    ],
    "look, birds",
  ],
  [[], null],
])("a search that found %j names the tools to upstream models", (tools, names) => {
  const result = toolSearch.items["tool_search_output"]?.toResult?.({ tools });
  expect(result).toBe(names === null ? "No tools found." : `Available now: ${names}`);
});
