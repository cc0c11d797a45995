import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Schema } from "../../base/schema/schema.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";
import { codecsByKind } from "../codecs/codec-registry.ts";
import { nativeParamsProblem } from "./native-params.ts";

function toolOf(params: Schema, kind = "my_kind", config: object = {}): NativeTool {
  const result = z.object({ stdout: z.string() });
  return new NativeTool({ name: "mine", description: "Does it.", params, result, kind, config });
}

function codecOf(params?: HostedToolCodec["params"]): HostedToolCodec {
  return {
    kind: "my_kind",
    serialize: () => ({ type: "my_kind" }),
    parseOutput: () => null,
    ...(params && { params }),
  };
}

const held = codecOf({
  code: "string",
  limit: "integer",
  ratio: "number",
  all: "boolean",
  files: "array",
  filter: "object",
});

describe("params of a native tool", () => {
  test.each<[string, Schema]>([
    ["are what the calls hold", z.object({ code: z.string() })],
    ["are all that they hold", z.strictObject({ code: z.string(), files: z.array(z.string()) })],
    ["are of every type there is", z.object({ all: z.boolean(), filter: z.looseObject({}) })],
    ["are whole numbers where any number is held", z.object({ ratio: z.int() })],
    ["are any numbers where whole ones are held", z.object({ limit: z.number() })],
    ["may be null besides", z.object({ code: z.string().nullable() })],
    [
      "may be of several types, one of which is held",
      z.object({ code: z.union([z.string(), z.int()]) }),
    ],
    ["may be anything", z.object({ code: z.unknown(), files: z.any() })],
    ["do not say their type", z.object({ code: z.literal(["x", 1]) })],
    ["hold more, which is optional", z.object({ code: z.string(), note: z.string().optional() })],
    ["hold more, which has a default", z.object({ note: z.string().default("x") })],
    ["are none", z.object({})],
    ["are optional and held", z.object({ code: z.string().optional() })],
  ])("fit if they %s", (_how, params) => {
    expect(nativeParamsProblem(toolOf(params), held)).toBeNull();
  });

  test("are not looked at where the codec does not say what its calls hold", () => {
    expect(nativeParamsProblem(toolOf(z.object({ whatever: z.int() })), codecOf())).toBeNull();
  });

  test("are unfit if a required one is not held", () => {
    const tool = toolOf(z.object({ source: z.string() }));
    expect(nativeParamsProblem(tool, codecOf({ code: "string", limit: "integer" }))).toBe(
      'NativeTool "mine" declares the param "source" as string, and calls of "my_kind" hold ' +
        '"code" (string), "limit" (integer): leave it out, or make it optional',
    );
    expect(nativeParamsProblem(tool, codecOf({}))).toContain('calls of "my_kind" hold no params');
  });

  test("are unfit if one has another type", () => {
    expect(
      nativeParamsProblem(toolOf(z.object({ code: z.int() })), codecOf({ code: "string" })),
    ).toBe(
      'NativeTool "mine" declares the param "code" as integer, and calls of "my_kind" hold ' +
        '"code" (string): declare it as string',
    );
  });

  test.each<[string, Schema, string]>([
    ["a number for a text", z.object({ code: z.number() }), '"code" as number'],
    ["a text for a number", z.object({ limit: z.string() }), '"limit" as string'],
    ["one text for a list", z.object({ files: z.string() }), '"files" as string'],
    ["a list for an object", z.object({ filter: z.array(z.int()) }), '"filter" as array'],
    ["a text or null for a boolean", z.object({ all: z.string().nullable() }), "string or null"],
    ["another type, though optional", z.object({ code: z.int().optional() }), '"code" as integer'],
    ["anything, of what is not held", z.object({ other: z.unknown() }), '"other" as required'],
    ["one that every object inherits", z.object({ constructor: z.string() }), '"constructor"'],
  ])("are unfit with %s", (_what, params, says) => {
    expect(nativeParamsProblem(toolOf(params), held)).toContain(says);
  });

  test("are unfit if one is required and not described", () => {
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
    expect(nativeParamsProblem(toolOf(plain), held)).toContain('param "source" as required');
  });
});

const params = z.object({});
const hosted = (kind: string, config?: object) => toolOf(params, kind, config);

function clientExecutedProblem(tool: NativeTool): string | null {
  return codecsByKind().get(tool.kind)?.nativeProblem?.(tool) ?? null;
}

describe("a native tool that would have to be run here", () => {
  test("is any that patches", () => {
    expect(clientExecutedProblem(hosted("apply_patch"))).toBe(
      'NativeTool "mine" of kind "apply_patch" is run here and not by the provider, for which a ' +
        "NativeTool has no means: put applyPatchTool() among the section's hostedTools",
    );
  });

  test("is a shell in a local environment", () => {
    const tool = hosted("shell", { environment: { type: "local" } });
    expect(clientExecutedProblem(tool)).toBe(
      'NativeTool "mine" of kind "shell" with a local environment is run here and not by the ' +
        'provider, for which a NativeTool has no means: put shellTool({ environment: { type: "local" } }, ' +
        "{ executor }) among the section's hostedTools, or let a container run it",
    );
  });

  test.each([null, "container", {}, { type: "container_auto" }, [], { type: null }])(
    "may be a shell in an environment that is none: %j",
    (environment) => {
      expect(clientExecutedProblem(hosted("shell", { environment }))).toBe(
        'NativeTool "mine" of kind "shell" has an environment that is no container: ' +
          'write { type: "container" }, or leave it out',
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
  ])("is none that the provider runs: %s with %j", (kind, config) => {
    expect(clientExecutedProblem(hosted(kind, config))).toBeNull();
  });
});
