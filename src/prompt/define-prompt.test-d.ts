import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { ProviderAdapter } from "../adapter/provider-adapter.ts";
import { definePrompt } from "./define-prompt.ts";
import type { Prompt } from "./prompt.ts";

declare const adapter: ProviderAdapter;
const name = "sort";
const instructions = "Sort.";

describe("the type of definePrompt()", () => {
  test("answers with text without an output schema", async () => {
    const agent = definePrompt({ name, instructions, userTemplate: "Sort." });
    expectTypeOf(agent).toExtend<Prompt<string>>();
    const { output, text } = await adapter.evaluate(agent, { input: "b, a" });
    expectTypeOf(output).toEqualTypeOf<string>();
    expectTypeOf(text).toEqualTypeOf<string>();
  });

  test("answers with the type of its output schema", async () => {
    const agent = definePrompt({ name, instructions, output: z.object({ sorted: z.string() }) });
    const { output } = await adapter.evaluate(agent);
    expectTypeOf(output).toEqualTypeOf<{ sorted: string }>();
  });

  test("requires the schema of an output that is not text", () => {
    // @ts-expect-error: without a schema the answer is text
    definePrompt<{ sorted: string }>({ name, instructions });
  });

  test("must be bound before an evaluation if it has params", async () => {
    const params = z.object({ what: z.string(), times: z.number().default(1) });
    const agent = definePrompt({ name, instructions, userTemplate: "$what $times", params });
    expectTypeOf(agent.bind).parameter(0).toExtend<{ what: string; times?: number | undefined }>();
    // @ts-expect-error: `what` must be bound first
    void adapter.evaluate(agent);
    // @ts-expect-error: `what` is text
    void (() => agent.bind({ what: 1 }));
    // @ts-expect-error: `what` is missing
    void (() => agent.bind({}));
    const { output } = await adapter.evaluate(agent.bind({ what: "owls" }));
    expectTypeOf(output).toEqualTypeOf<string>();
  });

  test("may be evaluated unbound if every param has a default", () => {
    const params = z.object({ times: z.number().default(1) });
    const agent = definePrompt({ name, instructions: "Sort $times times.", params });
    void (() => adapter.evaluate(agent));
  });

  test("rejects unknown options", () => {
    // @ts-expect-error: the option is `instructions`
    void (() => definePrompt({ name, instruction: "Sort." }));
  });
});
