import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Schema } from "../../base/schema/schema.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";
import { createCodecRegistry } from "../codecs/codec-registry.ts";
import { findNativeParamsProblem } from "./native-params.ts";

function createTool(params: Schema, kind = "my_kind", config: object = {}): NativeTool {
  const result = z.object({ stdout: z.string() });
  return new NativeTool({ name: "mine", description: "Does it.", params, result, kind, config });
}

function createCodec(params?: HostedToolCodec["params"]): HostedToolCodec {
  return {
    kind: "my_kind",
    serialize: () => ({ type: "my_kind" }),
    parseOutput: () => null,
    ...(params && { params }),
  };
}

const fullCodec = createCodec({
  code: "string",
  limit: "integer",
  ratio: "number",
  all: "boolean",
  files: "array",
  filter: "object",
});

describe("findParamsProblem()", () => {
  test.each<[string, Schema]>([
    ["are fields of the calls", z.object({ code: z.string() })],
    [
      "are several fields of the calls",
      z.strictObject({ code: z.string(), files: z.array(z.string()) }),
    ],
    ["are booleans and objects", z.object({ all: z.boolean(), filter: z.looseObject({}) })],
    ["are integers where the calls have numbers", z.object({ ratio: z.int() })],
    ["are numbers where the calls have integers", z.object({ limit: z.number() })],
    ["can also be null", z.object({ code: z.string().nullable() })],
    [
      "have several types, including the right one",
      z.object({ code: z.union([z.string(), z.int()]) }),
    ],
    ["can have any type", z.object({ code: z.unknown(), files: z.any() })],
    ["do not declare a type", z.object({ code: z.literal(["x", 1]) })],
    [
      "include an additional optional field",
      z.object({ code: z.string(), note: z.string().optional() }),
    ],
    ["include an additional field with a default", z.object({ note: z.string().default("x") })],
    ["are empty", z.object({})],
    ["are optional fields of the calls", z.object({ code: z.string().optional() })],
  ])("accepts params that %s", (_how, params) => {
    expect(findNativeParamsProblem(createTool(params), fullCodec)).toBeNull();
  });

  test("accepts any params if the codec declares none", () => {
    expect(
      findNativeParamsProblem(createTool(z.object({ whatever: z.int() })), createCodec()),
    ).toBeNull();
  });

  test("rejects a required param that the calls do not have", () => {
    const tool = createTool(z.object({ source: z.string() }));
    expect(findNativeParamsProblem(tool, createCodec({ code: "string", limit: "integer" }))).toBe(
      'NativeTool "mine" declares the param "source" as string, but "my_kind" calls have ' +
        '"code" (string), "limit" (integer). Remove it, or make it optional.',
    );
    expect(findNativeParamsProblem(tool, createCodec({}))).toContain(
      '"my_kind" calls have no params',
    );
  });

  test("rejects a param with another type", () => {
    expect(
      findNativeParamsProblem(
        createTool(z.object({ code: z.int() })),
        createCodec({ code: "string" }),
      ),
    ).toBe(
      'NativeTool "mine" declares the param "code" as integer, but "my_kind" calls have ' +
        '"code" (string). Declare it as string.',
    );
  });

  test.each<[string, Schema, string]>([
    ["a number for a string", z.object({ code: z.number() }), '"code" as number'],
    ["a string for a number", z.object({ limit: z.string() }), '"limit" as string'],
    ["a string for an array", z.object({ files: z.string() }), '"files" as string'],
    ["an array for an object", z.object({ filter: z.array(z.int()) }), '"filter" as array'],
    ["a string or null for a boolean", z.object({ all: z.string().nullable() }), "string or null"],
    [
      "another type for an optional param",
      z.object({ code: z.int().optional() }),
      '"code" as integer',
    ],
    [
      "a required param of any type that the calls do not have",
      z.object({ other: z.unknown() }),
      '"other" as required',
    ],
    [
      "a param with the name of an inherited property",
      z.object({ constructor: z.string() }),
      '"constructor"',
    ],
  ])("rejects %s", (_what, params, says) => {
    expect(findNativeParamsProblem(createTool(params), fullCodec)).toContain(says);
  });

  test("rejects a required param without a schema", () => {
    const plain: Schema = {
      "~standard": {
        version: 1,
        vendor: "mine",
        validate: (value) => ({ value }),
        jsonSchema: {
          input: () => ({ type: "object", required: ["source", 1] }),
          output: () => ({ type: "object" }),
        },
      },
    };
    expect(findNativeParamsProblem(createTool(plain), fullCodec)).toContain(
      'param "source" as required',
    );
  });
});

const params = z.object({});
const createHostedTool = (kind: string, config?: object) => createTool(params, kind, config);

function findNativeProblem(tool: NativeTool): string | null {
  return createCodecRegistry().get(tool.kind)?.nativeProblem?.(tool) ?? null;
}

describe("nativeProblem() of the default codecs", () => {
  test("rejects apply_patch", () => {
    expect(findNativeProblem(createHostedTool("apply_patch"))).toBe(
      'NativeTool "mine" of kind "apply_patch" runs locally, not at the provider, and a NativeTool ' +
        "cannot run locally. Add applyPatchTool() to the section's hostedTools.",
    );
  });

  test("rejects a shell in a local environment", () => {
    const tool = createHostedTool("shell", { environment: { type: "local" } });
    expect(findNativeProblem(tool)).toBe(
      'NativeTool "mine" of kind "shell" with a local environment runs locally, not at the provider, ' +
        'and a NativeTool cannot run locally. Add shellTool({ environment: { type: "local" } }, ' +
        "{ executor }) to the section's hostedTools, or use a container environment.",
    );
  });

  test.each([null, "container", {}, { type: "container_auto" }, [], { type: null }])(
    "rejects a shell with the invalid environment %j",
    (environment) => {
      expect(findNativeProblem(createHostedTool("shell", { environment }))).toBe(
        'NativeTool "mine" of kind "shell" has an environment that is not a container. ' +
          'Use { type: "container" }, or omit it.',
      );
    },
  );

  test.each([
    ["shell", {}],
    ["shell", { environment: undefined }],
    ["shell", { environment: { type: "container", memoryLimit: "4g" } }],
    ["web_search", {}],
    ["code_interpreter", { environment: { type: "local" } }],
    ["my_kind", {}],
  ])("accepts %s with the config %j", (kind, config) => {
    expect(findNativeProblem(createHostedTool(kind, config))).toBeNull();
  });
});
