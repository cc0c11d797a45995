import { describe, expect, test } from "vitest";
import { Budget, shellTool, Tool, ToolResult } from "weakincentives";
import { createPrompt, createServerFixture, KEY } from "../support/claude/claude-fixture.ts";
import { type MessagesAnswer, textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const createBashAnswer = (command: string, more: object = {}): MessagesAnswer => ({
  content: [toolUse("Bash", { command })],
  ...more,
});
const done: MessagesAnswer = { content: [textBlock("Done.")] };
const broken = { status: 500, type: "api_error", message: "Internal server error" };
const shell = { hostedTools: [shellTool()] };

/** Creates a tool that counts its calls. */
function createCounter() {
  const counted = { calls: 0 };
  const tool = new Tool({
    name: "count",
    description: "Counts.",
    params: null,
    handler: () => ToolResult.ok(null, `Call ${++counted.calls}.`),
  });
  return { counted, tool };
}

describe.skipIf(sdkMissing)("Limits and retries on the real SDK", () => {
  test(
    "stop before the next request if the budget is used up, and the conversation can continue later",
    async () => {
      const usage = { input_tokens: 1000, output_tokens: 10 };
      const fixture = await createServerFixture([createBashAnswer("echo one", { usage }), done]);
      const budget = new Budget({ maxTotalTokens: 500 });
      const error = await fixture.runToError(createPrompt(shell), { evaluate: { budget } });
      expect(error.name).toBe("BudgetExceededError");
      expect(fixture.requests).toHaveLength(1);
      expect(error["partial"]).toMatchObject({ hostedCalls: [{ name: "shell", message: "one" }] });
      const response = await fixture.run(createPrompt({ ...shell, template: "Continue." }), {
        evaluate: { continue: true },
      });
      expect(response.text).toBe("Done.");
      expect(fixture.requests[1]?.text).toContain("echo one");
      expect(response.usage.inputTokens).toBe(10);
    },
    SDK_TIMEOUT,
  );

  test(
    "count each request as a turn for maxTurns",
    async () => {
      const fixture = await createServerFixture(() => createBashAnswer("true"));
      const error = await fixture.runToError(createPrompt(shell), { evaluate: { maxTurns: 2 } });
      expect(error.message).toBe("No answer after 2 turns. Raise maxTurns or use a smaller task.");
      expect(fixture.requests).toHaveLength(2);
      expect(fixture.bus.of("TurnStarted")).toHaveLength(2);
      expect(fixture.bus.of("ToolInvoked")).toHaveLength(2);
    },
    SDK_TIMEOUT,
  );

  test(
    "retry a failed request in a conversation, and run no tool twice",
    async () => {
      const { counted, tool } = createCounter();
      const fixture = await createServerFixture([
        {
          content: [toolUse("mcp__wink__count", {}), toolUse("Bash", { command: "echo x >> log" })],
        },
        broken,
        broken,
        createBashAnswer("cat log"),
        { drop: true },
        { drop: true },
        done,
      ]);
      const workspace = fixture.createWorkspace();
      const prompt = createPrompt({ ...shell, tools: [tool] }, [workspace]);
      const response = await fixture.run(prompt);
      expect(response.text).toBe("Done.");
      expect(counted.calls).toBe(1);
      expect(fixture.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
        "Call 1.",
        "Ran and printed nothing",
        "x",
      ]);
      expect(fixture.requests).toHaveLength(7);
      expect(fixture.bus.of("TurnCompleted")).toHaveLength(3);
      expect(fixture.clock.now()).toBeGreaterThanOrEqual(1000);
      const levels = fixture.logLines.map((line) => line.split(" {")[0]);
      const waited = ["warn request failed", "warn throttled: waiting to try again"];
      expect(levels).toEqual([
        ...["debug request", "debug response", "debug request", ...waited],
        ...["debug request", "debug response", "debug request", ...waited],
        ...["debug request", "debug response"],
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "continue an answer after a lost connection, and run its calls once",
    async () => {
      const { counted, tool } = createCounter();
      const fixture = await createServerFixture([
        { content: [textBlock("I count. "), toolUse("mcp__wink__count", {})], cut: "after" },
        { content: [textBlock("It is ")], cut: "after" },
        { content: [textBlock("one")], stop: "max_tokens" },
        { content: [textBlock(".")] },
      ]);
      const response = await fixture.run(createPrompt({ tools: [tool] }));
      expect(counted.calls).toBe(1);
      expect(response.text).toBe("It is one.");
      expect(fixture.requests).toHaveLength(4);
    },
    SDK_TIMEOUT,
  );

  test(
    "retry a throttled first request after the provider's delay, by the adapter's clock",
    async () => {
      const headers = { "retry-after": "20" };
      const busy = { status: 429, type: "rate_limit_error", message: "Too many.", headers };
      const fixture = await createServerFixture([busy, done]);
      const started = performance.now();
      const response = await fixture.run(createPrompt());
      expect(response.text).toBe("Done.");
      expect(fixture.clock.now()).toBeGreaterThanOrEqual(20_000);
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(fixture.requests).toHaveLength(2);
    },
    SDK_TIMEOUT,
  );

  test.each([
    [401, "authentication_error", "Invalid API key"],
    [400, "invalid_request_error", "messages: odd"],
    [404, "not_found_error", "issue with the selected model"],
  ])(
    "report the reason for status %i without secrets",
    async (status, type, message) => {
      const fixture = await createServerFixture(() => ({
        status,
        type,
        message: `${message} (${KEY})`,
      }));
      const error = await fixture.runToError(createPrompt());
      expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
      expect(error.message).toContain(message);
      const reported = JSON.stringify([error.message, error.stack, error, fixture.bus.events]);
      expect(reported + fixture.logLines.join("\n")).not.toContain(KEY);
    },
    SDK_TIMEOUT,
  );
});
