import { describe, expect, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import { z } from "zod";
import { createServerFixture, readLastMessage } from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const section = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
const owl = z.object({ name: z.string(), age: z.number() });

function createTypedPrompt<Output>(output: z.ZodType<Output>): Prompt<Output> {
  return new Prompt(new PromptTemplate({ ns: "test", key: "typed", sections: [section], output }));
}

const createAnswer = (input: object) => ({ content: [toolUse("StructuredOutput", input)] });

describe.skipIf(sdkMissing)("A structured answer on the real SDK", () => {
  test(
    "is requested again if it does not match its schema",
    async () => {
      const fixture = await createServerFixture([
        createAnswer({ name: "Ula", age: "old" }),
        createAnswer({ name: "Ula", age: 4 }),
      ]);
      const response = await fixture.run(createTypedPrompt(owl));
      expect(response.output).toEqual({ name: "Ula", age: 4 });
      expect(response.text).toBe('{"name":"Ula","age":4}');
      expect(fixture.bus.of("PromptExecuted")[0]?.text).toBe(response.text);
      expect(readLastMessage(fixture)).toContain("is_error");
      expect(fixture.requests).toHaveLength(2);
      expect(fixture.bus.of("TurnCompleted")).toHaveLength(2);
      expect(fixture.bus.of("ToolInvoked")).toEqual([]);
    },
    SDK_TIMEOUT,
  );

  test(
    "can be an array",
    async () => {
      const fixture = await createServerFixture([
        createAnswer({ items: [{ name: "Ula", age: 4 }] }),
      ]);
      const response = await fixture.run(createTypedPrompt(z.array(owl)));
      expect(response.output).toEqual([{ name: "Ula", age: 4 }]);
      expect(response.text).toBe('{"items":[{"name":"Ula","age":4}]}');
    },
    SDK_TIMEOUT,
  );

  test(
    "fails in phase parse if it never matches, and keeps the last attempt",
    async () => {
      const wrong = { name: "Ula", age: "old" };
      const fixture = await createServerFixture(() => createAnswer(wrong));
      const failed = await fixture.runToError(createTypedPrompt(owl));
      expect(failed).toMatchObject({ name: "PromptEvaluationError", phase: "parse" });
      expect(failed["providerPayload"]).toEqual(JSON.stringify(wrong));
    },
    SDK_TIMEOUT,
  );

  test(
    "can be JSON inside a text answer",
    async () => {
      const text = 'Here: {"name":"Ula","age":4}';
      const fixture = await createServerFixture(() => ({ content: [textBlock(text)] }));
      const response = await fixture.run(createTypedPrompt(owl));
      expect(response.output).toEqual({ name: "Ula", age: 4 });
    },
    SDK_TIMEOUT,
  );

  test(
    "uses the settings of modelConfig",
    async () => {
      const fixture = await createServerFixture([createAnswer({ name: "Ula", age: 4 })]);
      const modelConfig = { effort: "low", maxOutputTokens: 1234 } as const;
      const response = await fixture.run(createTypedPrompt(owl), {
        adapter: { model: "claude-sonnet-4-6", modelConfig },
      });
      expect(response.output.age).toBe(4);
      expect(fixture.requests[0]?.body).toMatchObject({
        model: "claude-sonnet-4-6",
        max_tokens: 1234,
        output_config: { effort: "low" },
      });
      expect(fixture.bus.of("PromptExecuted")).toMatchObject([{ model: "claude-sonnet-4-6" }]);
    },
    SDK_TIMEOUT,
  );
});
