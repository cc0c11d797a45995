import { describe, expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { createRequestCheck } from "./request.ts";
import { createToolValidator } from "./tools.ts";

const checkRequest = createRequestCheck(builtInCatalog);
const tool = createToolValidator(builtInCatalog);

const empty = { type: "object", properties: {}, required: [], additionalProperties: false };
const createSchema = (part: object) => ({ ...empty, properties: { a: part }, required: ["a"] });

const checkParameters = (parameters: object | null, strict: boolean | null = true) =>
  tool({ type: "function", name: "look", parameters, strict }, "tools[0]");

const closed = "'additionalProperties' is required to be supplied and to be false.";
const createMessage = (key: string) =>
  `'required' is required to be supplied and to be an array including every key in properties. Missing '${key}'.`;

describe("a strict schema", () => {
  test.each([
    null,
    empty,
    { type: "object", additionalProperties: false },
    createSchema({ type: "string" }),
    createSchema({ anyOf: [empty, { type: "null" }] }),
    createSchema({ type: "array", items: { type: "string" } }),
    createSchema({ $ref: "#/$defs/b" }),
  ])("is accepted: %j", (schema) => {
    expect(checkParameters(schema)).toBeNull();
  });

  test.each<readonly [schema: object, complaint: string]>([
    [{ type: "object" }, `In context=(), ${closed}`],
    [{ ...empty, additionalProperties: true }, `In context=(), ${closed}`],
    [{ ...createSchema({}), required: [] }, `In context=(), ${createMessage("a")}`],
    [
      { type: "object", properties: { a: {} }, additionalProperties: false },
      `In context=(), ${createMessage("a")}`,
    ],
    [createSchema({ properties: {} }), `In context=('properties', 'a'), ${closed}`],
    [
      createSchema({ anyOf: [empty, { type: "object" }] }),
      `In context=('properties', 'a', 'anyOf', '1'), ${closed}`,
    ],
    [
      createSchema({ type: "array", items: { type: "object" } }),
      `In context=('properties', 'a', 'items'), ${closed}`,
    ],
    [{ ...empty, items: { type: "object" } }, `In context=('items',), ${closed}`],
    [{ ...empty, $defs: { b: { type: "object" } } }, `In context=('$defs', 'b'), ${closed}`],
    [{}, `schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`],
    [{ type: "string" }, `schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`],
  ])("is rejected: %j", (schema, complaint) => {
    expect(checkParameters(schema)).toMatchObject({
      status: 400,
      message: `Invalid schema for function 'look': ${complaint}`,
      param: "tools[0].parameters",
      code: "invalid_function_parameters",
    });
  });

  test("of an answer is rejected with its own wording", () => {
    const format = {
      type: "json_schema",
      name: "answer",
      schema: { type: "object" },
      strict: true,
    };
    expect(() => checkRequest({ model: "m", input: "a", text: { format } })).toThrow(
      expect.objectContaining({
        message: `Invalid schema for response_format 'answer': In context=(), ${closed}`,
        param: "text.format.schema",
        code: "invalid_json_schema",
      }),
    );
  });

  test("is not checked for a tool without strict", () => {
    expect(checkParameters({ type: "object" }, false)).toBeNull();
    expect(checkParameters({ type: "object" }, null)).toBeNull();
  });

  test("may be deeply nested without a stack overflow", () => {
    let schema: object = empty;
    for (let depth = 0; depth < 3000; depth++) schema = createSchema(schema);
    expect(checkParameters(schema)).toBeNull();
  });
});
