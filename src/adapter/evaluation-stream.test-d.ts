import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { ClaudeAgentSDKAdapter } from "../claude/adapter.ts";
import type { OpenAIAdapter } from "../openai/adapter.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import type { BusEvent } from "../session/event-map.ts";
import type { ScriptedClient } from "../testing/scripted-client.ts";
import type { EvaluationStream, StreamEvent } from "./evaluation-stream.ts";
import type { PromptResponse } from "./prompt-response.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";

declare const openai: OpenAIAdapter;
declare const claude: ClaudeAgentSDKAdapter;
declare const scripted: ScriptedClient;
declare const any: ProviderAdapter;

const task = new MarkdownSection({ key: "task", title: "Task", template: "Rate owls." });
const report = z.object({ title: z.string(), scores: z.array(z.object({ value: z.number() })) });
const names = { ns: "demo", key: "rate", sections: [task] };
const textPrompt = new Prompt(new PromptTemplate(names));
const reportPrompt = new Prompt(new PromptTemplate({ ...names, output: report }));
type Report = z.infer<typeof report>;

describe("adapter.stream()", () => {
  test("exists on the adapters of this package, and may be missing on others", () => {
    for (const adapter of [openai, claude, scripted]) {
      expectTypeOf(adapter.stream(textPrompt)).toEqualTypeOf<EvaluationStream<string>>();
    }
    // @ts-expect-error Cannot invoke an object which is possibly 'undefined'
    any.stream(textPrompt);
    expectTypeOf(any.stream?.(textPrompt)).toEqualTypeOf<EvaluationStream<string> | undefined>();
  });

  test("has the output of its prompt, and parts of it", async () => {
    const stream = openai.stream(reportPrompt);
    expectTypeOf(stream.response).toEqualTypeOf<Promise<PromptResponse<Report>>>();
    for await (const part of stream.partialOutput()) {
      expectTypeOf(part.title).toEqualTypeOf<string | undefined>();
      expectTypeOf(part.scores?.[0]?.value).toEqualTypeOf<number | undefined>();
    }
    for await (const text of openai.stream(textPrompt).partialOutput()) {
      expectTypeOf(text).toEqualTypeOf<string>();
    }
  });

  test("requires the params of its prompt, like evaluate()", () => {
    const params = z.object({ topic: z.string() });
    const section = new MarkdownSection({ key: "t", title: "T", template: "$topic", params });
    const unbound = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections: [section] }));
    // @ts-expect-error the param topic must be bound
    openai.stream(unbound);
    openai.stream(unbound.bind({ topic: "owls" }));
  });

  test("has events with a type that distinguishes them", async () => {
    for await (const event of openai.stream(textPrompt)) {
      expectTypeOf(event).toEqualTypeOf<StreamEvent>();
      if (event.type === "bus") expectTypeOf(event.event).toEqualTypeOf<BusEvent>();
      if (event.type === "text") expectTypeOf(event.delta).toEqualTypeOf<string>();
      if (event.type === "hostedCall")
        expectTypeOf(event.delta).toEqualTypeOf<string | undefined>();
    }
  });
});
