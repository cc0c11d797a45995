import { describe, expect, test } from "vitest";
import { Budget } from "../base/budget.ts";
import { Deadline } from "../base/deadline.ts";
import type { Logger } from "../base/logger.ts";
import { toUsage } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";

const createPrompt = (key: string, handler: (context: ToolContext) => Promise<unknown>) => {
  const work = new Tool({
    name: "work",
    description: "Works.",
    params: null,
    handler: async (_, context) => ToolResult.ok(await handler(context)),
  });
  const section = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: [work],
  });
  return new Prompt(new PromptTemplate({ ns: "demo", key, sections: [section] }));
};
const prompt = createPrompt("k", async () => null);
const callWork = { toolCalls: [{ name: "work" }], usage: { inputTokens: 7, outputTokens: 3 } };
const clock = fakeClock({ now: Date.UTC(2030, 0, 1) });

describe("PromptFailed", () => {
  test("has the error's name, message and phase, and the usage of the completed turns", async () => {
    const bus = recordingBus();
    const client = scriptedClient(callWork, new Error("down")).with({ clock });
    const session = new Session({ id: "s1", bus });
    await expect(client.evaluate(prompt, { session })).rejects.toThrow("down");
    expect(bus.of("PromptFailed")).toEqual([
      {
        type: "PromptFailed",
        sessionId: "s1",
        promptName: "demo:k",
        adapter: "scripted",
        createdAt: "2030-01-01T00:00:00.000Z",
        errorName: "PromptEvaluationError",
        message: "down",
        phase: "request",
        usage: toUsage({ inputTokens: 7, outputTokens: 3 }),
        turns: 1,
      },
    ]);
    expect(bus.of("PromptFailed").every(Object.isFrozen)).toBe(true);
  });

  test("is the last event of a failed evaluation", async () => {
    const bus = recordingBus();
    const client = scriptedClient(callWork, new Error("down"));
    await client.evaluate(prompt, { session: new Session({ bus }) }).catch(() => {});
    expect(bus.types()).toEqual([
      "PromptRendered",
      "TurnStarted",
      "TurnCompleted",
      "ToolInvoked",
      "TurnStarted",
      "PromptFailed",
    ]);
  });

  test("is not published for an evaluation that succeeds", async () => {
    const bus = recordingBus();
    await scriptedClient({ text: "Done." }).evaluate(prompt, { session: new Session({ bus }) });
    expect(bus.of("PromptFailed")).toEqual([]);
    expect(bus.of("PromptExecuted")).toHaveLength(1);
  });

  test("is not published for an evaluation that fails before its prompt is rendered", async () => {
    const bus = recordingBus();
    const deadline = Deadline.at(new Date(clock.now()), clock);
    const evaluation = scriptedClient().evaluate(prompt, {
      session: new Session({ bus }),
      deadline,
    });
    await expect(evaluation).rejects.toThrow("deadline");
    expect(bus.types()).toEqual([]);
  });

  test("names the class of an exceeded budget and its phase", async () => {
    const bus = recordingBus();
    const budget = new Budget({ maxTotalTokens: 5 });
    const evaluation = scriptedClient(callWork).evaluate(prompt, {
      session: new Session({ bus }),
      budget,
    });
    await expect(evaluation).rejects.toThrow("budget");
    expect(bus.of("PromptFailed")).toMatchObject([
      { errorName: "BudgetExceededError", phase: "budget", turns: 1 },
    ]);
  });

  test.each([
    ["an Error", new TypeError("stop"), "TypeError", "stop"],
    ["text", "the user left", "string", "the user left"],
    ["an object", { code: 7 }, "object", '{"code":7}'],
    ["null", null, "object", "null"],
  ])(
    "has no phase if the evaluation was cancelled with %s",
    async (_, reason, errorName, message) => {
      const bus = recordingBus();
      const controller = new AbortController();
      const client = scriptedClient(() => {
        controller.abort(reason);
        return new Promise<never>(() => {});
      });
      const { signal } = controller;
      const evaluation = client.evaluate(prompt, { session: new Session({ bus }), signal });
      await expect(evaluation).rejects.toBe(reason);
      expect(bus.of("PromptFailed")).toMatchObject([{ errorName, message, phase: null, turns: 0 }]);
    },
  );

  test("is published for a nested evaluation and again for the evaluation that it ends", async () => {
    const bus = recordingBus();
    const client = scriptedClient(
      { toolCalls: [{ name: "work" }] },
      new Error("inner"),
      new Error("outer"),
    );
    const outer = createPrompt("outer", async ({ adapter, session }) => {
      await adapter.evaluate(prompt, { session });
    });
    const evaluation = client.evaluate(outer, { session: new Session({ bus }) });
    await expect(evaluation).rejects.toThrow("outer");
    expect(bus.of("PromptFailed")).toMatchObject([
      { promptName: "demo:k", message: "inner", turns: 0 },
      { promptName: "demo:outer", message: "outer", turns: 1 },
    ]);
  });

  test("is published for a nested evaluation even if its caller recovers and succeeds", async () => {
    const bus = recordingBus();
    const client = scriptedClient({ toolCalls: [{ name: "work" }] }, new Error("inner"), {
      text: "Done.",
    });
    const outer = createPrompt("outer", async ({ adapter, session }) => {
      await adapter.evaluate(prompt, { session }).catch(() => {});
    });
    await client.evaluate(outer, { session: new Session({ bus }) });
    expect(bus.of("PromptFailed")).toMatchObject([{ promptName: "demo:k", message: "inner" }]);
    expect(bus.of("PromptExecuted")).toMatchObject([{ promptName: "demo:outer" }]);
  });

  test("that cannot be published is logged, and the caller gets the evaluation's error", async () => {
    const logged: string[] = [];
    const ignore = () => {};
    const error = (message: string) => void logged.push(message);
    const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error };
    const bus = recordingBus();
    const publish = bus.publish.bind(bus);
    bus.publish = (event) => {
      if (event.type === "PromptFailed") throw new Error("the bus is closed");
      publish(event);
    };
    const client = scriptedClient(new Error("down")).with({ logger });
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }) });
    await expect(evaluation).rejects.toThrow("down");
    expect(logged).toEqual(["PromptFailed could not be published"]);
  });
});
