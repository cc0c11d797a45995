import { describe, expectTypeOf, test } from "vitest";
import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { jsonSchema } from "./json-schema.ts";
import type { Infer, Schema } from "./schema.ts";

interface Forecast {
  city: string;
  days?: number;
}

declare const adapter: ProviderAdapter;

const forecast = jsonSchema<Forecast>({ type: "object" });

describe("jsonSchema()", () => {
  test("infers the type that the schema accepts and returns", () => {
    expectTypeOf(forecast).toExtend<Schema<Forecast>>();
    expectTypeOf<Infer<typeof forecast>>().toEqualTypeOf<Forecast>();
  });

  test("infers unknown without a type argument", () => {
    expectTypeOf<Infer<ReturnType<typeof jsonSchema>>>().toBeUnknown();
  });

  test("infers the params of a tool's handler", () => {
    const tool = new Tool({
      name: "get_weather",
      description: "Returns the forecast for a city.",
      params: forecast,
      result: jsonSchema<{ sunny: boolean }>({ type: "object" }),
      handler: (params) => {
        expectTypeOf(params).toEqualTypeOf<Forecast>();
        return ToolResult.ok({ sunny: params.city !== "" });
      },
    });
    expectTypeOf(tool).toEqualTypeOf<Tool<Forecast, { sunny: boolean }>>();
  });

  test("infers the params of a section and the output of a response", async () => {
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Describe the weather in $city.",
      params: forecast,
      enabled: ({ city }) => city !== "",
    });
    const output = jsonSchema<{ text: string }>({ type: "object" });
    const prompt = new Prompt(
      new PromptTemplate({ ns: "demo", key: "w", sections: [task], output }),
    );
    expectTypeOf(prompt.bind).parameter(0).toEqualTypeOf<{ city: string; days?: number }>();
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    prompt.bind({ city: 3 });
    const response = await adapter.evaluate(prompt.bind({ city: "Oslo" }), {
      session: new Session(),
    });
    expectTypeOf(response.output).toEqualTypeOf<{ text: string }>();
  });
});

test("jsonSchema() accepts only an object", () => {
  // @ts-expect-error Type 'string' is not assignable to type 'object'
  jsonSchema('{ "type": "object" }');
});
