import { describe, expectTypeOf, test } from "vitest";
import { checkModelConfig, modelFields, type OpenAIModelConfig } from "./model-config.ts";
import type { WireRequest } from "./wire.ts";

describe("a model config", () => {
  test("may pass through what is undefined, and never null", () => {
    const temperature: number | undefined = Math.random() < 2 ? undefined : 1;
    checkModelConfig({ temperature, metadata: undefined });
    // @ts-expect-error Type 'null' is not assignable to type 'number | undefined'
    checkModelConfig({ temperature: null });
  });

  test("has no parameters of other APIs, and words for what has few", () => {
    // @ts-expect-error 'seed' does not exist
    checkModelConfig({ seed: 1 });
    // @ts-expect-error Type '"loud"' is not assignable
    checkModelConfig({ verbosity: "loud" });
    expectTypeOf<OpenAIModelConfig["verbosity"]>().toEqualTypeOf<
      "low" | "medium" | "high" | undefined
    >();
  });

  test("fits the wire", () => {
    expectTypeOf(modelFields({})).toEqualTypeOf<Partial<WireRequest>>();
  });
});
