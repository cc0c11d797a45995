import { describe, expect, test } from "vitest";
import { LocalProvider } from "../provider.ts";
import { createUnservedProblem } from "./create-unserved-problem.ts";

describe("createUnservedProblem()", () => {
  test.each([
    [
      "POST",
      "/v1/embeddings",
      "This server does not serve embeddings. Use vector stores to search",
    ],
    ["POST", "/v1/completions", "This server does not serve legacy completions. Use POST /v1/resp"],
    ["GET", "/v1/batches/batch_1", "does not serve batches. Send each request on its own."],
    ["POST", "/v1/audio/speech", "does not serve speech and transcription."],
    ["POST", "/v1/images/generations", "does not serve image generation."],
    ["GET", "/v1/assistants/asst_1", "does not serve the Assistants API. Use POST /v1/responses."],
    ["POST", "/v1/v1/messages", "Use a base URL without '/v1' for Anthropic's SDKs."],
    ["POST", "/chat/completions", "Use a base URL that ends in '/v1'."],
  ])("says what to use instead of %s %s", (method, path, hint) => {
    const problem = createUnservedProblem(method, path);
    expect(problem).toMatchObject({ status: 404, code: "unsupported_endpoint" });
    expect(problem.message.startsWith(`Invalid URL (${method} ${path}). `)).toBe(true);
    expect(problem.message).toContain(hint);
  });

  test.each(["/v1/owls", "/v1", "/", "/responsesowl", "/v1/constructor/toString"])(
    "knows nothing about %s",
    (path) => {
      const message = `Invalid URL (GET ${path})`;
      expect(createUnservedProblem("GET", path)).toMatchObject({
        status: 404,
        code: null,
        message,
      });
    },
  );
});

test("a LocalProvider answers paths that it does not serve in OpenAI's format", async () => {
  await using provider = new LocalProvider();
  const ask = async (path: string) => {
    const response = await provider.fetch(`http://local${path}`, { method: "POST", body: "{}" });
    return { status: response.status, body: await response.json() };
  };
  expect(await ask("/v1/embeddings")).toMatchObject({
    status: 404,
    body: { error: { type: "invalid_request_error", code: "unsupported_endpoint" } },
  });
});
