import { expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { applyIncludes as showItem } from "./apply-includes.ts";

const withIncludes = (item: WireItem, include: ReadonlySet<string>) =>
  showItem(item, include, builtInCatalog);

const none = new Set<string>();
const code = { type: "code_interpreter_call", id: "ci_1", outputs: [{ type: "logs", logs: "1" }] };
const files = { type: "file_search_call", id: "fs_1", results: [{ text: "a" }] };
const action = { type: "search", query: "a", sources: [{ type: "url", url: "u" }] };
const web = { type: "web_search_call", id: "ws_1", action, results: [] };
const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };

test.each([
  [code, "code_interpreter_call.outputs", { ...code, outputs: null }],
  [files, "file_search_call.results", { ...files, results: null }],
  [thought, "reasoning.encrypted_content", { type: "reasoning", id: "rs_1", summary: [] }],
])("%j shows its optional fields only with its include value", (item, include, bare) => {
  expect(withIncludes(item, new Set([include]))).toBe(item);
  expect(withIncludes(item, none)).toEqual(bare);
});

test("a web search shows its sources and results only with their include values", () => {
  const bare = { type: "search", query: "a" };
  expect(withIncludes(web, none)).toEqual({ type: "web_search_call", id: "ws_1", action: bare });
  const withSources = withIncludes(web, new Set(["web_search_call.action.sources"]));
  expect(withSources).toEqual({ type: "web_search_call", id: "ws_1", action });
  const withResults = withIncludes(web, new Set(["web_search_call.results"]));
  expect(withResults).toEqual({ ...web, action: bare });
});

test("an item without optional fields is unchanged", () => {
  const message = { type: "message", role: "assistant", content: [] };
  expect(withIncludes(message, none)).toBe(message);
  const bare = { type: "web_search_call", id: "ws_1" };
  expect(withIncludes(bare, none)).toBe(bare);
});
