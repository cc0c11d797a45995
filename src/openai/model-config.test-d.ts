import { describe, expectTypeOf, test } from "vitest";
import { checkModelConfig, type OpenAIModelConfig, toModelFields } from "./model-config.ts";
import type { WireRequest } from "./wire.ts";

describe("OpenAIModelConfig", () => {
  test("accepts undefined but not null", () => {
    const temperature: number | undefined = Math.random() < 2 ? undefined : 1;
    checkModelConfig({ temperature, metadata: undefined });
    // @ts-expect-error Type 'null' is not assignable to type 'number | undefined'
    checkModelConfig({ temperature: null });
  });

  test("has no parameters of other APIs, and literal types for enumerations", () => {
    // @ts-expect-error 'seed' does not exist
    checkModelConfig({ seed: 1 });
    // @ts-expect-error Type '"loud"' is not assignable
    checkModelConfig({ verbosity: "loud" });
    expectTypeOf<OpenAIModelConfig["verbosity"]>().toEqualTypeOf<
      "low" | "medium" | "high" | undefined
    >();
  });

  test("converts to fields of the request body", () => {
    expectTypeOf(toModelFields({})).toEqualTypeOf<Partial<WireRequest>>();
  });
});
