import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import {
  type ClaudeModelConfig,
  checkModelConfig,
  modelOptions,
  modelVariables,
} from "./model-config.ts";

const whole: ClaudeModelConfig = {
  effort: "xhigh",
  maxOutputTokens: 4000,
  fallbackModel: "claude-small",
  maxBudgetUsd: 0.5,
};

/** A config as a program without types might give it. */
const checking = (config: unknown) => () => checkModelConfig(config as ClaudeModelConfig);

describe("a model config", () => {
  test.each([{}, whole, { effort: undefined }])("may be %j", (config) => {
    expect(checkModelConfig(config)).toBe(config);
  });

  test.each([
    [{ effort: "huge" }, 'effort must be one of "low", "medium", "high", "xhigh", "max"'],
    [{ fallbackModel: "" }, "fallbackModel must be"],
    [{ temperature: 1 }, "temperature"],
    [null, "must be a plain object"],
  ])("is refused: %j", (config, words) => {
    expect(checking(config)).toThrow(InvalidOptionError);
    expect(checking(config)).toThrow(words);
    expect(checking(config)).toThrow("ClaudeAgentSDKAdapter.modelConfig");
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"])(
    "is refused where a limit is %s",
    (limit) => {
      for (const field of ["maxOutputTokens", "maxBudgetUsd"]) {
        expect(checking({ [field]: limit })).toThrow(
          new RegExp(
            `^ClaudeAgentSDKAdapter.modelConfig.${field} must be a positive (whole )?number.*: leave it out for no limit of your own`,
          ),
        );
      }
    },
  );

  test("is refused where the tokens of an answer are no whole number", () => {
    expect(checking({ maxOutputTokens: 1.5 })).toThrow(InvalidOptionError);
    expect(checking({ maxBudgetUsd: 1.5 })).not.toThrow();
  });
});

describe("the SDK is told", () => {
  test("the model and what it has an option for", () => {
    const { effort, fallbackModel, maxBudgetUsd } = whole;
    expect(modelOptions("claude-big", whole)).toEqual({
      model: "claude-big",
      effort,
      fallbackModel,
      maxBudgetUsd,
    });
  });

  test("nothing that was left out", () => {
    expect(modelOptions(null, {})).toEqual({});
    expect(Object.keys(modelOptions(null, { effort: "low" }))).toEqual(["effort"]);
    expect(modelVariables({})).toEqual({});
  });

  test("the tokens of an answer by a variable", () => {
    expect(modelVariables(whole)).toEqual({ CLAUDE_CODE_MAX_OUTPUT_TOKENS: "4000" });
  });
});
