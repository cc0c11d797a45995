import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import {
  type ClaudeModelConfig,
  checkModelConfig,
  toModelOptions,
  toModelVariables,
} from "./model-config.ts";

const fullConfig: ClaudeModelConfig = {
  effort: "xhigh",
  maxOutputTokens: 4000,
  fallbackModel: "claude-small",
  maxBudgetUsd: 0.5,
};

/** Checks a config of any type, as a JavaScript caller may pass it. */
const checkAny = (config: unknown) => () => checkModelConfig(config as ClaudeModelConfig);

describe("checkModelConfig()", () => {
  test.each([{}, fullConfig, { effort: undefined }])("accepts %j", (config) => {
    expect(checkModelConfig(config)).toBe(config);
  });

  test.each([
    [{ effort: "huge" }, 'effort must be one of "low", "medium", "high", "xhigh", "max"'],
    [{ fallbackModel: "" }, "fallbackModel must be"],
    [{ temperature: 1 }, "temperature"],
    [null, "must be a plain object"],
  ])("rejects %j", (config, message) => {
    expect(checkAny(config)).toThrow(InvalidOptionError);
    expect(checkAny(config)).toThrow(message);
    expect(checkAny(config)).toThrow("ClaudeAgentSDKAdapter.modelConfig");
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"])("rejects the limit %s", (limit) => {
    for (const field of ["maxOutputTokens", "maxBudgetUsd"]) {
      expect(checkAny({ [field]: limit })).toThrow(
        new RegExp(
          `^ClaudeAgentSDKAdapter.modelConfig.${field} must be a positive (integer|number), got .*\\. Omit it for (the SDK's|no) limit\\.$`,
        ),
      );
    }
  });

  test("rejects a fractional maxOutputTokens, but not a fractional maxBudgetUsd", () => {
    expect(checkAny({ maxOutputTokens: 1.5 })).toThrow(InvalidOptionError);
    expect(checkAny({ maxBudgetUsd: 1.5 })).not.toThrow();
  });
});

describe("a model config converted for the SDK", () => {
  test("sets the options that the SDK has", () => {
    const { effort, fallbackModel, maxBudgetUsd } = fullConfig;
    expect(toModelOptions("claude-big", fullConfig)).toEqual({
      model: "claude-big",
      effort,
      fallbackModel,
      maxBudgetUsd,
    });
  });

  test("omits unset options", () => {
    expect(toModelOptions(null, {})).toEqual({});
    expect(Object.keys(toModelOptions(null, { effort: "low" }))).toEqual(["effort"]);
    expect(toModelVariables({})).toEqual({});
  });

  test("sets maxOutputTokens as an environment variable", () => {
    expect(toModelVariables(fullConfig)).toEqual({ CLAUDE_CODE_MAX_OUTPUT_TOKENS: "4000" });
  });
});
