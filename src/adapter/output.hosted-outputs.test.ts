import { expect, test } from "vitest";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { hostedOutputs } from "./output.ts";

test("an output is found by its tool and by its tool's name", () => {
  const found = { text: "Owls.", citations: [] };
  const outputs = hostedOutputs([["search", found]]);
  expect(outputs.get(webSearchTool({}, { name: "search" }))).toBe(found);
  expect(outputs.get("search")).toBe(found);
  expect(outputs.get(webSearchTool())).toBeUndefined();
  expect(outputs.get("web_search")).toBeUndefined();
});

test("the last output of a name counts", () => {
  expect(
    hostedOutputs([
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ]).get("a"),
  ).toBe(3);
});

test("outputs are a map like any other", () => {
  const outputs = hostedOutputs([
    ["a", 1],
    ["b", null],
  ]);
  expect([...outputs]).toEqual([
    ["a", 1],
    ["b", null],
  ]);
  expect([outputs.size, outputs.has("b"), outputs.has("c")]).toEqual([2, true, false]);
});
