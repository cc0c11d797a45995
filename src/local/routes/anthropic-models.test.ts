import { describe, expect, test } from "vitest";
import { startMessagesFixture } from "../../../tests/support/local/messages-fixture.ts";

const headers = { "anthropic-version": "2023-06-01" };

describe("/v1/models for Anthropic's clients", () => {
  test("lists and returns models in Anthropic's format", async () => {
    const { ask } = await startMessagesFixture([]);
    const { body, headers: answered } = await ask(undefined, "GET /v1/models", headers);
    const local = { id: "local", type: "model", lifecycle: "active" };
    expect(body).toMatchObject({ data: [local], first_id: "local", has_more: false });
    expect(answered.get("request-id")).toMatch(/^req_/);
    expect((await ask(undefined, "GET /v1/models?after_id=local", headers)).body).toEqual({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
    expect((await ask(undefined, "GET /v1/models/claude-any", headers)).body).toMatchObject({
      id: "claude-any",
      display_name: "claude-any",
    });
  });

  test("leaves OpenAI's clients their own format", async () => {
    const { ask } = await startMessagesFixture([]);
    expect((await ask(undefined, "GET /v1/models")).body).toMatchObject({ object: "list" });
    expect((await ask(undefined, "GET /v1/models/x")).body).toMatchObject({ object: "model" });
  });

  test("need the key in Anthropic's header, and report errors in Anthropic's format", async () => {
    const { ask } = await startMessagesFixture([], { apiKey: "secret" });
    const key = { ...headers, "x-api-key": "secret" };
    expect((await ask(undefined, "GET /v1/models", key)).status).toBe(200);
    expect(await ask(undefined, "GET /v1/models", headers)).toMatchObject({
      status: 401,
      body: { error: { type: "authentication_error", message: "x-api-key header is required" } },
    });
    expect(await ask({}, "POST /v1/complete", key)).toMatchObject({
      status: 404,
      body: {
        type: "error",
        error: {
          type: "not_found_error",
          message: expect.stringContaining("Invalid URL (POST /v1/complete)"),
        },
      },
    });
  });
});

describe("/v1/messages/batches", () => {
  test.each(["POST /v1/messages/batches", "GET /v1/messages/batches/b_1/results"])(
    "is not supported: %s",
    async (route) => {
      const { ask } = await startMessagesFixture([]);
      const { status, body } = await ask(route.startsWith("POST") ? {} : undefined, route);
      expect([status, body]).toMatchObject([
        404,
        {
          error: {
            type: "not_found_error",
            message: expect.stringContaining(
              "This server does not serve message batches. Send each request to POST /v1/messages.",
            ),
          },
        },
      ]);
    },
  );
});
