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

function check(
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

describe("an example", () => {
  test("that fits the tool's schemas is fine, and so are none", () => {
    check(bern);
    checkExamples({ params: city, result: forecast, examples: [] }, "examples");
  });

  test.each([
    ["input", { ...bern, input: { city: 5 } }, "city: "],
    ["input", { ...bern, input: undefined }, "expected object"],
    ["output", { ...bern, output: { days: "none" } }, "days: "],
    ["output, deep down", { ...bern, output: { days: [{ degrees: "20" }] } }, "days.0.degrees: "],
  ])("is refused for its %s, with its place and the schema's reason", (part, example, problem) => {
    const field = `Tool "weather" examples[0].${part.split(",")[0]}`;
    expect(() => check(example)).toThrow(PromptValidationError);
    expect(() => check(example)).toThrow(expect.objectContaining({ field }));
    expect(() => check(example)).toThrow(`${field} must fit the tool's own schema (`);
    expect(() => check(example)).toThrow(problem);
    expect(() => check(example)).toThrow(": correct the example or the schema");
  });

  test.each([
    ["Zod", city],
    ["ArkType", type({ city: "string" })],
    ["Valibot", toStandardJsonSchema(v.object({ city: v.string() }))],
  ])("is held to the schemas of %s", (_vendor, params) => {
    check(bern, { params });
    expect(() => check({ ...bern, input: {} }, { params })).toThrow(
      "must fit the tool's own schema",
    );
  });

  test.each(["", "x".repeat(201), "größe", "one\ntwo", undefined])(
    "cannot have %j for its description",
    (description) => {
      expect(() => check({ ...bern, description })).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: 'Tool "weather" examples[0].description',
          value: description,
        }),
      );
    },
  );

  test.each([null, undefined, "Bern", 5])("cannot be %j", (example) => {
    expect(() => check(example)).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: 'Tool "weather" examples[0]',
        value: example,
        message: expect.stringContaining("write [{ description, input, output }]"),
      }),
    );
  });

  test("is named by its number", () => {
    const examples = [bern, { ...bern, input: { city: 5 } }];
    expect(() => checkExamples({ params: city, result: null, examples }, "examples")).toThrow(
      "examples[1].input must fit",
    );
  });

  test("cannot be given but in a list", () => {
    const tool = { params: city, result: forecast, examples: bern as never };
    expect(() => checkExamples(tool, "examples")).toThrow(
      expect.objectContaining({ field: "examples", value: bern }),
    );
  });
});

describe("an example is of what comes out of a schema", () => {
  test("where a transform makes something else of it, it cannot be tried", () => {
    const params = z.object({ n: z.string().transform(Number) });
    check({ ...bern, input: { n: 5 } }, { params });
    check({ ...bern, input: { n: "5" } }, { params });
  });

  test("where a codec makes something else of it, it cannot be tried", () => {
    const toNumber = { decode: Number, encode: String };
    const params = z.object({ n: z.codec(z.string(), z.number(), toNumber) });
    check({ ...bern, input: { n: 5 } }, { params });
  });

  test("where an ArkType morph does, it cannot be tried either", () => {
    const params = type({ n: type("string").pipe((text) => Number(text)) });
    check({ ...bern, input: { n: 5 } }, { params });
  });

  test("a default does not keep it from being tried, at any depth", () => {
    const place = z.object({ name: z.string(), zoom: z.number().default(1) });
    const params = z.object({ place, days: z.number().default(3) });
    check({ ...bern, input: { place: { name: "Bern", zoom: 2 }, days: 1 } }, { params });
    check({ ...bern, input: { place: { name: "Bern" } } }, { params });
    const wrong = { ...bern, input: { place: { name: "Bern", zoom: "2" } } };
    expect(() => check(wrong, { params })).toThrow("place.zoom: ");
  });

  test("fields called like words of JSON Schema are fields", () => {
    const params = z.object({ required: z.string(), additionalProperties: z.array(z.string()) });
    check({ ...bern, input: { required: "a", additionalProperties: [] } }, { params });
    expect(() =>
      check({ ...bern, input: { required: 1, additionalProperties: [] } }, { params }),
    ).toThrow("required: ");
  });
});

test("without a schema there is nothing to hold an example to", () => {
  check({ ...bern, input: null, output: "warm" }, { params: null, result: null });
});
