import { describe, expect, test } from "vitest";
import { type JsonSchema, validate } from "../base/schema/schema.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { createToolSchema } from "./tool-schema.ts";

const createTool = (schema: JsonSchema) =>
  new Tool({
    name: "a",
    description: "A.",
    params: createToolSchema(schema),
    handler: () => ToolResult.ok(null),
  });
const accepts = async (schema: JsonSchema, value: unknown) =>
  (await validate(createToolSchema(schema), value)).ok;

describe("createToolSchema()", () => {
  test("shows the model the server's schema, without $schema and with properties", () => {
    const { paramsSchema } = createTool({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      required: ["a"],
    });
    expect(paramsSchema).toEqual({ type: "object", properties: {}, required: ["a"] });
  });

  test("validates types, required fields, enums, unions and references", async () => {
    const schema = {
      type: "object",
      properties: {
        kind: { enum: ["a", "b"] },
        size: { anyOf: [{ type: "integer" }, { type: "null" }] },
        place: { $ref: "#/$defs/place" },
      },
      required: ["kind"],
      $defs: { place: { type: "object", required: ["x"] } },
    };
    expect(await accepts(schema, { kind: "a", size: 1, place: { x: 1 } })).toBe(true);
    expect(await accepts(schema, { size: 1 })).toBe(false);
    expect(await accepts(schema, { kind: "c" })).toBe(false);
    expect(await accepts(schema, { kind: "a", size: "1" })).toBe(false);
    expect(await accepts(schema, { kind: "a", place: {} })).toBe(false);
  });

  test("cleans and cuts descriptions and titles, but no value", () => {
    const { paramsSchema } = createTool({
      type: "object",
      properties: {
        description: { type: "string", description: `x\u0007${"y".repeat(2_000)}` },
        b: { const: "\u0007", title: "t\u202E" },
      },
    });
    const { properties } = paramsSchema as { properties: Record<string, JsonSchema> };
    const text = String(properties["description"]?.["description"]);
    expect(text).toMatch(/^xy+… \[977 more characters omitted\]$/);
    expect(properties["b"]).toEqual({ const: "\u0007", title: "t" });
  });

  test("does not run patterns, which could take forever", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" } },
      patternProperties: { "^(b+)+$": { type: "string" } },
      propertyNames: { pattern: "^(c+)+$" },
    };
    const long = `${"a".repeat(40)}!`;
    expect(await accepts(schema, { a: long, [`${"b".repeat(40)}!`]: 1 })).toBe(true);
    expect(await accepts(schema, { a: 1 })).toBe(false);
  });

  test("checks a recursive schema, or one that grows exponentially, without its references", async () => {
    const tree = {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } }, size: { type: "integer" } },
    };
    expect(await accepts(tree, { size: 1, children: [{ size: "x" }] })).toBe(true);
    expect(await accepts(tree, { size: "x" })).toBe(false);
    const names = Array.from({ length: 40 }, (_, index) => `d${index}`);
    const twice = (name: string) => ({ allOf: [{ $ref: name }, { $ref: name }] });
    const defs = names.map((name, index) => [name, twice(`#/$defs/d${index + 1}`)] as const);
    const bomb = {
      type: "object",
      properties: { a: { $ref: "#/$defs/d0" } },
      $defs: { ...Object.fromEntries(defs), d40: { type: "string" } },
    };
    expect(await accepts(bomb, { a: 1 })).toBe(true);
    const endless = { type: "object", allOf: [{ $ref: "#" }, { $ref: "#" }] };
    expect(await accepts(endless, {})).toBe(true);
  });

  test("accepts keywords of older drafts", async () => {
    const schema = {
      type: "object",
      $id: "urn:a",
      properties: { pair: { type: "array", items: [{ type: "string" }], additionalItems: false } },
      definitions: { a: { type: "string" } },
      dependencies: { pair: ["b"] },
    };
    expect(await accepts(schema, { pair: ["a"] })).toBe(true);
    expect(await accepts(schema, { pair: "a" })).toBe(false);
  });

  test("refuses a schema that is too deep, too large or invalid", () => {
    let deep: JsonSchema = { type: "string" };
    for (let level = 0; level < 5_000; level++) deep = { type: "object", properties: { a: deep } };
    expect(() => createToolSchema(deep)).toThrow("nested more than 32 levels deep");
    const large = { type: "object", description: "x".repeat(70_000) };
    expect(() => createToolSchema(large)).toThrow("at most 65536 are accepted");
    const wrong = { type: "object", properties: { a: { type: "text" } } };
    expect(() => createToolSchema(wrong)).toThrow("must be a JSON type");
    const missing = { type: "object", properties: { a: { $ref: "#/$defs/none" } } };
    expect(() => createToolSchema(missing)).toThrow("#/$defs/none");
  });
});
