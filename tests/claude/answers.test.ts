import { describe, expect, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import { z } from "zod";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { lastTold, wireStage } from "../support/claude/stage.ts";

const section = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
const owl = z.object({ name: z.string(), age: z.number() });

function promptFor<Output>(output: z.ZodType<Output>): Prompt<Output> {
  return new Prompt(new PromptTemplate({ ns: "test", key: "typed", sections: [section], output }));
}

const answer = (input: object) => ({ content: [use("StructuredOutput", input)] });

describe.skipIf(sdkMissing)("A structured answer on the real SDK", () => {
  test(
    "that does not fit is asked for again, and the one that fits is the output",
    async () => {
      const stage = await wireStage([
        answer({ name: "Ula", age: "old" }),
        answer({ name: "Ula", age: 4 }),
      ]);
      const response = await stage.run(promptFor(owl));
      expect(response.output).toEqual({ name: "Ula", age: 4 });
      expect(response.text).toBeNull();
      expect(lastTold(stage)).toContain("is_error");
      expect(stage.requests).toHaveLength(2);
      expect(stage.bus.of("TurnCompleted")).toHaveLength(2);
      expect(stage.bus.of("ToolInvoked")).toEqual([]);
    },
    SDK_TIMEOUT,
  );

  test(
    "may be a list",
    async () => {
      const stage = await wireStage([answer({ items: [{ name: "Ula", age: 4 }] })]);
      const response = await stage.run(promptFor(z.array(owl)));
      expect(response.output).toEqual([{ name: "Ula", age: 4 }]);
    },
    SDK_TIMEOUT,
  );

  test(
    "that never fits fails in phase parse, and what was said is not lost",
    async () => {
      const wrong = { name: "Ula", age: "old" };
      const stage = await wireStage(() => answer(wrong));
      const failed = await stage.failure(promptFor(owl));
      expect(failed).toMatchObject({ name: "PromptEvaluationError", phase: "parse" });
      expect(failed["providerPayload"]).toEqual(JSON.stringify(wrong));
    },
    SDK_TIMEOUT,
  );

  test(
    "may be said in words that hold it",
    async () => {
      const text = 'Here: {"name":"Ula","age":4}';
      const stage = await wireStage(() => ({ content: [say(text)] }));
      const response = await stage.run(promptFor(owl));
      expect(response.output).toEqual({ name: "Ula", age: 4 });
    },
    SDK_TIMEOUT,
  );

  test(
    "is made as the model's config says",
    async () => {
      const stage = await wireStage([answer({ name: "Ula", age: 4 })]);
      const modelConfig = { effort: "low", maxOutputTokens: 1234 } as const;
      const response = await stage.run(promptFor(owl), {
        adapter: { model: "claude-sonnet-4-6", modelConfig },
      });
      expect(response.output.age).toBe(4);
      expect(stage.requests[0]?.body).toMatchObject({
        model: "claude-sonnet-4-6",
        max_tokens: 1234,
        output_config: { effort: "low" },
      });
      expect(stage.bus.of("PromptExecuted")).toMatchObject([{ model: "claude-sonnet-4-6" }]);
    },
    SDK_TIMEOUT,
  );
});
