import { expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { createRequestCheck } from "./request.ts";
import { rejectUnsupportedTools } from "./unsupported-tools.ts";

const checkRequest = createRequestCheck(builtInCatalog);

const createRequest =
  (...tools: readonly object[]) =>
  () =>
    rejectUnsupportedTools(checkRequest({ model: "local", input: "Go.", tools }), builtInCatalog);

test("rejectUnsupportedTools() rejects tools that cannot run locally with OpenAI's wording", () => {
  const problem = { status: 400, param: "tools", code: null };
  const mcp = { type: "mcp", server_label: "a", server_url: "https://a.example" };
  for (const tool of [{ type: "image_generation" }, mcp]) {
    const message = `Tool '${tool.type}' is not supported with local.`;
    expect(createRequest({ type: "web_search" }, tool)).toThrow(
      expect.objectContaining({ ...problem, message }),
    );
  }
});

test("rejectUnsupportedTools() accepts tools that run locally or at the client", () => {
  expect(createRequest({ type: "web_search" }, { type: "apply_patch" })).not.toThrow();
});
