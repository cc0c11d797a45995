import { describe, expect, test } from "vitest";
import { isContainerGone } from "../http/container-calls.ts";
import { failedContainer } from "./failed-container.ts";

const secrets = ["sk-secret"];
const failed = (message: string, code: string | null = "server_error") => ({
  id: "resp_1",
  status: "failed",
  error: { code, message },
});

describe("a response that failed", () => {
  test.each(["Container is expired.", "Container with id 'cntr_1' not found."])(
    "because its container is gone is an error that says so: %s",
    (message) => {
      const error = failedContainer(failed(message), { secrets });
      expect(error?.message).toBe(`The response failed: ${message}`);
      expect(error).toMatchObject({ code: "server_error", status: null, reason: "status" });
      expect(isContainerGone(error)).toBe(true);
    },
  );

  test("says no secrets", () => {
    const error = failedContainer(failed("Container is expired. sk-secret", null), { secrets });
    expect(JSON.stringify([error?.message, error?.body])).not.toContain("sk-secret");
  });

  test.each([
    ["for another reason", failed("The model is overloaded.")],
    ["without a word", { status: "failed", error: null }],
    ["not at all", { ...failed("Container is expired."), status: "completed" }],
  ])("%s is none of these", (_, response) => {
    expect(failedContainer(response, { secrets })).toBeNull();
  });
});
