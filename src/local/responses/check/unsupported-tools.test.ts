import { expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { rejectUnsupportedTools } from "./unsupported-tools.ts";

const createRequest =
  (...tools: readonly object[]) =>
  () =>
    rejectUnsupportedTools(
      tools.map((tool) => ({ ...tool })),
      [],
      builtInCatalog,
    );

test("rejectUnsupportedTools() rejects tools that cannot run locally, and says that the local provider lacks them", () => {
  const problem = { status: 400, param: "tools", code: null };
  const mcp = { type: "mcp", server_label: "a", server_url: "https://a.example" };
  for (const tool of [{ type: "image_generation" }, mcp]) {
    const message = `Not supported by the local provider: the tool '${tool.type}'. Remove it from the request, or send the request to OpenAI.`;
    expect(createRequest({ type: "web_search" }, tool)).toThrow(
      expect.objectContaining({ ...problem, message }),
    );
  }
});

test("rejectUnsupportedTools() rejects tools that an item adds", () => {
  const item = { type: "additional_tools", tools: [{ type: "image_generation" }] };
  expect(() => rejectUnsupportedTools([], [{ type: "message" }, item], builtInCatalog)).toThrow(
    "Not supported by the local provider: the tool 'image_generation'.",
  );
});

test("rejectUnsupportedTools() accepts tools that run locally or at the client", () => {
  expect(createRequest({ type: "web_search" }, { type: "apply_patch" })).not.toThrow();
});
