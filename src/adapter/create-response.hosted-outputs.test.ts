import { expect, test } from "vitest";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { createHostedOutputs } from "./create-response.ts";

test("createHostedOutputs() finds an output by its tool and by the tool's name", () => {
  const found = { text: "Owls.", citations: [] };
  const outputs = createHostedOutputs([["search", found]]);
  expect(outputs.get(webSearchTool({}, { name: "search" }))).toBe(found);
  expect(outputs.get("search")).toBe(found);
  expect(outputs.get(webSearchTool())).toBeUndefined();
  expect(outputs.get("web_search")).toBeUndefined();
});

test("createHostedOutputs() uses the last output of a name", () => {
  expect(
    createHostedOutputs([
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ]).get("a"),
  ).toBe(3);
});

test("createHostedOutputs() returns an ordinary map", () => {
  const outputs = createHostedOutputs([
    ["a", 1],
    ["b", null],
  ]);
  expect([...outputs]).toEqual([
    ["a", 1],
    ["b", null],
  ]);
  expect([outputs.size, outputs.has("b"), outputs.has("c")]).toEqual([2, true, false]);
});
