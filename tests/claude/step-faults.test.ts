import { describe, expect, test } from "vitest";
import { PromptEvaluationError, ThrottleError } from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import { createLocalFixture, createPrompt } from "../support/claude/claude-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { lookTool } from "../support/openai-run.ts";

describe.skipIf(sdkMissing)("a step that the request does not allow, on Claude", () => {
  test.each<[string, ModelAction, string]>([
    [
      "a renamed function",
      { call: { name: "renamed", args: {} } },
      'Step 1 failed: the model called the function "renamed", but the request does not offer it. It offers "look"',
    ],
    ["code", { code: "1" }, 'the model ran code, but the request does not offer the tool "Bash"'],
    ["a search", { search: { web: "owls" } }, "searched the web, but the request does not offer"],
  ])(
    "fails the evaluation without a retry: %s",
    async (_, action, message) => {
      const fixture = await createLocalFixture([[action], [{ say: "All is well." }]]);
      const error = await fixture.runToError(createPrompt({ tools: [lookTool] }));
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).not.toBeInstanceOf(ThrottleError);
      expect(error.message).toContain(message);
      const asked = fixture.requests.filter(({ body }) => Array.isArray(body["tools"]));
      expect(asked).toHaveLength(1);
    },
    SDK_TIMEOUT,
  );
});
