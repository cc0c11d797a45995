import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { clientFactories } from "../../../tests/support/openai-clients.ts";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import { ContainerCalls, isContainerGone } from "./container-calls.ts";

const expired = "Container is expired.";
const unknown = "Container with id 'cntr_1' not found.";
const expected = "Expected container_id: cntr_1";
const dead = "There was an issue with your request. Please try again later.";

describe.each(clientFactories)("isContainerGone() over %s", (_name, make) => {
  const getFailure = async (status: number, body: unknown) => {
    const server = await startRawServer((_, response) => sendResponse(response, status, body));
    const asked = new ContainerCalls(make(server.url)).download("cntr_1", "cfile_1");
    return await asked.catch((error: unknown) => error);
  };

  test.each([
    [400, { message: expired, type: "invalid_request_error", param: null, code: null }],
    [404, { message: unknown, type: "invalid_request_error", param: null, code: null }],
    [400, { message: expected }],
    [400, { message: dead, type: "invalid_request_error", param: null, code: null }],
  ])("is true for status %d with %j", async (status, error) => {
    const failed = await getFailure(status, { error });
    expect(failed).toBeInstanceOf(OpenAIRequestError);
    expect(isContainerGone(failed)).toBe(true);
  });

  test.each([
    [404, { error: { message: "Container file with id 'cfile_1' not found." } }],
    [404, { error: { message: "Invalid URL (GET /containers/cntr_1)" } }],
    [404, { detail: "Not Found" }],
    [404, "404 page not found"],
    [404, ""],
    [400, { error: { message: "Invalid container." } }],
    [400, { error: { message: dead, param: "input[0]" } }],
    [400, { error: { message: dead, code: "invalid_value" } }],
    [400, { error: { message: "Invalid 'name': There was an issue" } }],
    [500, { error: { message: expired } }],
    [429, { error: { message: dead } }],
    [403, { error: { message: unknown } }],
  ])("is false for status %d with %j", async (status, body) => {
    const failed = await getFailure(status, body);
    expect(failed).toMatchObject({ name: "OpenAIRequestError", status });
    expect(isContainerGone(failed)).toBe(false);
  });
});

describe("isContainerGone()", () => {
  test.each([expired, unknown, expected, dead])(
    "is true for the stream error %j, which has no status",
    (message) => {
      const body = { error: { message, type: "invalid_request_error" } };
      const error = new OpenAIRequestError("POST /responses failed", { reason: "status", body });
      expect(error.status).toBeNull();
      expect(isContainerGone(error)).toBe(true);
    },
  );

  test.each([expired, unknown, expected, dead])(
    "is true for the official client's stream error %j",
    (message) => {
      const thrown = new OpenAI.APIError(undefined, { message }, message, undefined);
      const error = toRequestError(thrown, { request: "POST /responses", secrets: [] });
      expect(error.status).toBeNull();
      expect(isContainerGone(error)).toBe(true);
    },
  );

  test("is false for other errors", () => {
    const network = new OpenAIRequestError(
      "GET /containers/cntr_1 failed: connect ECONNREFUSED. Check baseURL and the network.",
      { reason: "network" },
    );
    for (const error of [
      network,
      new Error(expired),
      expired,
      undefined,
      null,
      { message: expired },
    ]) {
      expect(isContainerGone(error)).toBe(false);
    }
  });
});
