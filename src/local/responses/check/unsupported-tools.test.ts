import { expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { createRequestCheck } from "./request.ts";
import { refuseUnsupportedTools } from "./unsupported-tools.ts";

const checkRequest = createRequestCheck(builtInCatalog);

const asking =
  (...tools: readonly object[]) =>
  () =>
    refuseUnsupportedTools(checkRequest({ model: "local", input: "Go.", tools }), builtInCatalog);

test("what nothing here can run is refused in OpenAI's words", () => {
  const problem = { status: 400, param: "tools", code: null };
  const mcp = { type: "mcp", server_label: "a", server_url: "https://a.example" };
  for (const tool of [{ type: "image_generation" }, mcp]) {
    const message = `Tool '${tool.type}' is not supported with local.`;
    expect(asking({ type: "web_search" }, tool)).toThrow(
      expect.objectContaining({ ...problem, message }),
    );
  }
});

test("what is run here, or handed to the client, is not", () => {
  expect(asking({ type: "web_search" }, { type: "apply_patch" })).not.toThrow();
});
