import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { checkExamples, type ToolExample } from "./tool-example.ts";

const city = z.object({ city: z.string() });
const forecast = z.object({ days: z.array(z.object({ degrees: z.number() })) });

function checkTool(
  example: unknown,
  schemas: { readonly params?: Schema | null; readonly result?: Schema | null } = {},
): void {
  const { params = city, result = forecast } = schemas;
  checkExamples({ params, result, examples: [example as ToolExample] }, 'Tool "weather" examples');
}

const bern = {
  description: "Bern",
  input: { city: "Bern" },
  output: { days: [{ degrees: 20 }] },
};

describe("a tool example", () => {
  test("is accepted if it matches the schemas, and may be omitted", () => {
    checkTool(bern);
    checkExamples({ params: city, result: forecast, examples: [] }, "examples");
  });

  test.each([
    ["input", { ...bern, input: { city: 5 } }, "city: "],
    ["input", { ...bern, input: undefined }, "expected object"],
    ["output", { ...bern, output: { days: "none" } }, "days: "],
    ["output, nested", { ...bern, output: { days: [{ degrees: "20" }] } }, "days.0.degrees: "],
  ])(
    "with an invalid %s is rejected with its position and the schema's reason",
    (part, example, problem) => {
      const field = `Tool "weather" examples[0].${part.split(",")[0]}`;
      expect(() => checkTool(example)).toThrow(PromptValidationError);
      expect(() => checkTool(example)).toThrow(expect.objectContaining({ field }));
      expect(() => checkTool(example)).toThrow(`${field} must match the tool's schema (`);
      expect(() => checkTool(example)).toThrow(problem);
      expect(() => checkTool(example)).toThrow(". Correct the example or the schema.");
    },
  );

  test.each([
    ["Zod", city],
    ["ArkType", type({ city: "string" })],
    ["Valibot", toStandardJsonSchema(v.object({ city: v.string() }))],
  ])("is validated by the schemas of %s", (_vendor, params) => {
    checkTool(bern, { params });
    expect(() => checkTool({ ...bern, input: {} }, { params })).toThrow(
      "must match the tool's schema",
    );
  });

  test.each(["x".repeat(4096), "größe 🌱", "one\ntwo"])(
    "may have the description %j",
    (description) => {
      expect(() => checkTool({ ...bern, description })).not.toThrow();
    },
  );

  test.each(["", " \n", "x".repeat(4097), undefined])(
    "cannot have the description %j",
    (description) => {
      expect(() => checkTool({ ...bern, description })).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: 'Tool "weather" examples[0].description',
          value: description,
        }),
      );
    },
  );

  test.each([null, undefined, "Bern", 5])("cannot be %j", (example) => {
    expect(() => checkTool(example)).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: 'Tool "weather" examples[0]',
        value: example,
        message: expect.stringContaining("Use [{ description, input, output }]"),
      }),
    );
  });

  test("is identified by its index", () => {
    const examples = [bern, { ...bern, input: { city: 5 } }];
    expect(() => checkExamples({ params: city, result: null, examples }, "examples")).toThrow(
      "examples[1].input must match the tool's schema",
    );
  });

  test("must be in an array", () => {
    const tool = { params: city, result: forecast, examples: bern as never };
    expect(() => checkExamples(tool, "examples")).toThrow(
      expect.objectContaining({ field: "examples", value: bern }),
    );
  });
});

describe("a tool example holds output values, so it", () => {
  test("is not validated against a schema with a transform", () => {
    const params = z.object({ n: z.string().transform(Number) });
    checkTool({ ...bern, input: { n: 5 } }, { params });
    checkTool({ ...bern, input: { n: "5" } }, { params });
  });

  test("is not validated against a schema with a codec", () => {
    const toNumber = { decode: Number, encode: String };
    const params = z.object({ n: z.codec(z.string(), z.number(), toNumber) });
    checkTool({ ...bern, input: { n: 5 } }, { params });
  });

  test("is not validated against an ArkType schema with a morph", () => {
    const params = type({ n: type("string").pipe((text) => Number(text)) });
    checkTool({ ...bern, input: { n: 5 } }, { params });
  });

  test("is validated despite defaults at any depth", () => {
    const place = z.object({ name: z.string(), zoom: z.number().default(1) });
    const params = z.object({ place, days: z.number().default(3) });
    checkTool({ ...bern, input: { place: { name: "Bern", zoom: 2 }, days: 1 } }, { params });
    checkTool({ ...bern, input: { place: { name: "Bern" } } }, { params });
    const wrong = { ...bern, input: { place: { name: "Bern", zoom: "2" } } };
    expect(() => checkTool(wrong, { params })).toThrow("place.zoom: ");
  });

  test("is validated even if fields are named like JSON Schema keywords", () => {
    const params = z.object({ required: z.string(), additionalProperties: z.array(z.string()) });
    checkTool({ ...bern, input: { required: "a", additionalProperties: [] } }, { params });
    expect(() =>
      checkTool({ ...bern, input: { required: 1, additionalProperties: [] } }, { params }),
    ).toThrow("required: ");
  });
});

test("a tool example is not validated without a schema", () => {
  checkTool({ ...bern, input: null, output: "warm" }, { params: null, result: null });
});
