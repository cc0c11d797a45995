import { describe, expect, test } from "vitest";
import { isContainerGone } from "../http/container-calls.ts";
import { findContainerFailure } from "./container-failure.ts";

const secrets = ["sk-secret"];
const createFailedResponse = (message: string, code: string | null = "server_error") => ({
  id: "resp_1",
  status: "failed",
  error: { code, message },
});

describe("findContainerFailure()", () => {
  test.each(["Container is expired.", "Container with id 'cntr_1' not found."])(
    "returns an error for a lost container: %s",
    (message) => {
      const error = findContainerFailure(createFailedResponse(message), { secrets });
      expect(error?.message).toBe(`The response failed: ${message}`);
      expect(error).toMatchObject({ code: "server_error", status: null, reason: "status" });
      expect(isContainerGone(error)).toBe(true);
    },
  );

  test("redacts secrets", () => {
    const error = findContainerFailure(
      createFailedResponse("Container is expired. sk-secret", null),
      {
        secrets,
      },
    );
    expect(JSON.stringify([error?.message, error?.body])).not.toContain("sk-secret");
  });

  test.each([
    ["failed for another reason", createFailedResponse("The model is overloaded.")],
    ["failed without a message", { status: "failed", error: null }],
    ["did not fail", { ...createFailedResponse("Container is expired."), status: "completed" }],
  ])("returns null for a response that %s", (_, response) => {
    expect(findContainerFailure(response, { secrets })).toBeNull();
  });
});
