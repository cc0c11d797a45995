import type { Responses } from "openai/resources/responses/responses";
import { describe, expectTypeOf, test } from "vitest";
import type {
  WireApplyPatch,
  WireCodeInterpreter,
  WireFileSearch,
  WireFormat,
  WireFunction,
  WireImageGeneration,
  WireMcp,
  WireMessage,
  WireOutput,
  WireRequest,
  WireShell,
  WireShellOutput,
  WireWebSearch,
} from "./wire.ts";

/** The official types are mutable and ours are readonly; the tests compare only assignability. */
type Mutable<T> = T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;

describe("the wire types match the official client's types for", () => {
  test("tools other than web search", () => {
    expectTypeOf<Mutable<WireFunction>>().toExtend<Responses.FunctionTool>();
    expectTypeOf<Mutable<WireFileSearch>>().toExtend<Responses.FileSearchTool>();
    expectTypeOf<Mutable<WireCodeInterpreter>>().toExtend<Responses.Tool.CodeInterpreter>();
    expectTypeOf<Mutable<WireShell>>().toExtend<Responses.FunctionShellTool>();
    expectTypeOf<Mutable<WireApplyPatch>>().toExtend<Responses.ApplyPatchTool>();
    expectTypeOf<Mutable<WireImageGeneration>>().toExtend<Responses.Tool.ImageGeneration>();
    expectTypeOf<Mutable<WireMcp>>().toExtend<Responses.Tool.Mcp>();
  });

  test("web search, except blocked domains, which are documented but not typed", () => {
    type Known = Omit<Mutable<WireWebSearch>, "filters"> & {
      filters?: { allowed_domains?: string[] };
    };
    expectTypeOf<Known>().toExtend<Responses.WebSearchTool>();
  });

  test("messages and outputs", () => {
    expectTypeOf<Mutable<WireMessage>>().toExtend<Responses.ResponseInputItem>();
    expectTypeOf<Mutable<WireOutput>>().toExtend<Responses.ResponseInputItem>();
    expectTypeOf<
      Mutable<WireShellOutput>
    >().toExtend<Responses.ResponseFunctionShellCallOutputContent>();
  });

  test("the request itself", () => {
    type Loose = "tools" | "tool_choice" | "include" | "text" | "reasoning" | "service_tier";
    expectTypeOf<
      Omit<Mutable<WireRequest>, Loose>
    >().toExtend<Responses.ResponseCreateParamsNonStreaming>();
    expectTypeOf<Mutable<WireFormat>>().toExtend<Responses.ResponseFormatTextJSONSchemaConfig>();
  });
});
