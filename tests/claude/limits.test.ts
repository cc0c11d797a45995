import { describe, expect, test } from "vitest";
import { Budget, shellTool, Tool, ToolResult } from "weakincentives";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { type MessagesAnswer, say, use } from "../support/claude/messages-server.ts";
import { KEY, promptOf, wireStage } from "../support/claude/stage.ts";

const bash = (command: string, more: object = {}): MessagesAnswer => ({
  content: [use("Bash", { command })],
  ...more,
});
const done: MessagesAnswer = { content: [say("Done.")] };
const broken = { status: 500, type: "api_error", message: "Internal server error" };
const shell = { hostedTools: [shellTool()] };

/** A tool that counts its calls. */
function counter() {
  const counted = { calls: 0 };
  const tool = new Tool({
    name: "count",
    description: "Counts.",
    params: null,
    handler: () => ToolResult.ok(null, `Call ${++counted.calls}.`),
  });
  return { counted, tool };
}

describe.skipIf(sdkMissing)("Limits on the real SDK:", () => {
  test(
    "a budget that a native call has used up stops before the next request, and one may go on later",
    async () => {
      const usage = { input_tokens: 1000, output_tokens: 10 };
      const stage = await wireStage([bash("echo one", { usage }), done]);
      const budget = new Budget({ maxTotalTokens: 500 });
      const error = await stage.failure(promptOf(shell), { evaluate: { budget } });
      expect(error.name).toBe("BudgetExceededError");
      expect(stage.requests).toHaveLength(1);
      expect(error["partial"]).toMatchObject({ hostedCalls: [{ name: "shell", message: "one" }] });
      const response = await stage.run(promptOf({ ...shell, template: "Go on." }), {
        evaluate: { continue: true },
      });
      expect(response.text).toBe("Done.");
      expect(stage.requests[1]?.text).toContain("echo one");
      expect(response.usage.inputTokens).toBe(10);
    },
    SDK_TIMEOUT,
  );

  test(
    "maxTurns counts requests",
    async () => {
      const stage = await wireStage(() => bash("true"));
      const error = await stage.failure(promptOf(shell), { evaluate: { maxTurns: 2 } });
      expect(error.message).toBe("No answer after 2 turns. Raise maxTurns or use a smaller task.");
      expect(stage.requests).toHaveLength(2);
      expect(stage.bus.of("TurnStarted")).toHaveLength(2);
      expect(stage.bus.of("ToolInvoked")).toHaveLength(2);
    },
    SDK_TIMEOUT,
  );

  test(
    "a request that breaks in mid-conversation is waited out, and no tool runs twice",
    async () => {
      const { counted, tool } = counter();
      const stage = await wireStage([
        { content: [use("mcp__wink__count", {}), use("Bash", { command: "echo x >> log" })] },
        broken,
        broken,
        bash("cat log"),
        { drop: true },
        { drop: true },
        done,
      ]);
      const workspace = stage.workspace();
      const prompt = promptOf({ ...shell, tools: [tool] }, [workspace]);
      const response = await stage.run(prompt);
      expect(response.text).toBe("Done.");
      expect(counted.calls).toBe(1);
      expect(stage.bus.of("ToolInvoked").map(({ result }) => result.message)).toEqual([
        "Call 1.",
        "Ran and printed nothing",
        "x",
      ]);
      expect(stage.requests).toHaveLength(7);
      expect(stage.bus.of("TurnCompleted")).toHaveLength(3);
      expect(stage.clock.now()).toBeGreaterThanOrEqual(1000);
      const levels = stage.logged.map((line) => line.split(" {")[0]);
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
    "an answer whose connection is lost goes on where it was cut, and its calls run once",
    async () => {
      const { counted, tool } = counter();
      const stage = await wireStage([
        { content: [say("I count. "), use("mcp__wink__count", {})], isCut: true },
        { content: [say("It is ")], isCut: true },
        { content: [say("one")], stop: "max_tokens" },
        { content: [say(".")] },
      ]);
      const response = await stage.run(promptOf({ tools: [tool] }));
      expect(counted.calls).toBe(1);
      expect(response.text).toBe("It is one.");
      expect(stage.requests).toHaveLength(4);
    },
    SDK_TIMEOUT,
  );

  test(
    "a first request that is throttled is sent again after the time that was asked for, by our clock",
    async () => {
      const headers = { "retry-after": "20" };
      const busy = { status: 429, type: "rate_limit_error", message: "Too many.", headers };
      const stage = await wireStage([busy, done]);
      const started = performance.now();
      const response = await stage.run(promptOf());
      expect(response.text).toBe("Done.");
      expect(stage.clock.now()).toBeGreaterThanOrEqual(20_000);
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(stage.requests).toHaveLength(2);
    },
    SDK_TIMEOUT,
  );

  test.each([
    [401, "authentication_error", "Invalid API key"],
    [400, "invalid_request_error", "messages: odd"],
    [404, "not_found_error", "issue with the selected model"],
  ])(
    "a request that is refused with %i says why, and nothing secret",
    async (status, type, message) => {
      const stage = await wireStage(() => ({ status, type, message: `${message} (${KEY})` }));
      const error = await stage.failure(promptOf());
      expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
      expect(error.message).toContain(message);
      const told = JSON.stringify([error.message, error.stack, error, stage.bus.events]);
      expect(told + stage.logged.join("\n")).not.toContain(KEY);
    },
    SDK_TIMEOUT,
  );
});
