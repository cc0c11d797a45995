import { describe, expect, test } from "vitest";
import { checkModelConfig, type OpenAIModelConfig, toModelFields } from "./model-config.ts";

const everything: OpenAIModelConfig = {
  temperature: 0.2,
  topP: 0.9,
  maxOutputTokens: 16,
  reasoning: { effort: "high", summary: "auto", context: "all_turns", mode: "pro" },
  verbosity: "low",
  parallelToolCalls: false,
  maxToolCalls: 1,
  store: false,
  user: "user-1",
  safetyIdentifier: "s".repeat(64),
  promptCacheKey: "p".repeat(64),
  serviceTier: "flex",
  metadata: { run: "7", empty: "", long: "x".repeat(512) },
  extraBody: { truncation: "auto", moderation: null },
};

describe("toModelFields()", () => {
  test("uses the API's names for every field except verbosity and extraBody", () => {
    expect(toModelFields(everything)).toEqual({
      temperature: 0.2,
      top_p: 0.9,
      max_output_tokens: 16,
      reasoning: { effort: "high", summary: "auto", context: "all_turns", mode: "pro" },
      parallel_tool_calls: false,
      max_tool_calls: 1,
      store: false,
      user: "user-1",
      safety_identifier: "s".repeat(64),
      prompt_cache_key: "p".repeat(64),
      service_tier: "flex",
      metadata: everything.metadata,
    });
  });

  test("omits undefined fields", () => {
    expect(Object.keys(toModelFields(checkModelConfig()))).toEqual([]);
    const unset = Object.fromEntries(Object.keys(everything).map((key) => [key, undefined]));
    expect(Object.keys(toModelFields(checkModelConfig(unset)))).toEqual([]);
  });

  test("includes fields that are false or 0", () => {
    expect(toModelFields({ temperature: 0, topP: 0, store: false })).toEqual({
      temperature: 0,
      top_p: 0,
      store: false,
    });
  });
});

describe("a model config", () => {
  test("returns a frozen copy", () => {
    const metadata = { run: "7" };
    const config = checkModelConfig({ ...everything, metadata });
    metadata.run = "8";
    expect(config).toEqual({ ...everything, metadata: { run: "7" } });
    expect(
      [config, config.metadata, config.reasoning, config.extraBody].every(Object.isFrozen),
    ).toBe(true);
  });

  test("accepts values at the limits", () => {
    const most = { temperature: 2, topP: 1, maxOutputTokens: 1_000_000, maxToolCalls: 1_000 };
    expect(checkModelConfig(most)).toEqual(most);
    const pairs = Array.from({ length: 16 }, (_, index) => [`key ${index}`.padEnd(64, "k"), "v"]);
    const metadata = Object.fromEntries(pairs);
    expect(checkModelConfig({ metadata })).toEqual({ metadata });
  });

  test("counts code points, not UTF-16 units", () => {
    const promptCacheKey = "🦉".repeat(64);
    const metadata = { owls: "🦉".repeat(512) };
    expect(checkModelConfig({ promptCacheKey, metadata })).toEqual({ promptCacheKey, metadata });
  });

  test("accepts fields in extraBody that the config does not set", () => {
    const extraBody = { temperature: 1, reasoning: { effort: "low", newest: true } };
    expect(checkModelConfig({ extraBody, topP: 1 })).toEqual({ extraBody, topP: 1 });
  });
});

const expectError = (place: string, says: string) =>
  expect.objectContaining({
    name: "PromptValidationError",
    field: `OpenAIAdapter.modelConfig${place}`,
    message: expect.stringContaining(says),
  });

const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]));

describe("checkModelConfig() rejects", () => {
  test.each<[unknown, string, string]>([
    [null, "", "must be a plain object, got null"],
    [[], "", "must be a plain object"],
    [{ temperature: 2.1 }, ".temperature", "must be a number from 0 to 2, got 2.1"],
    [{ temperature: -0.1 }, ".temperature", "from 0 to 2"],
    [{ temperature: "1" }, ".temperature", "from 0 to 2"],
    [{ temperature: Number.NaN }, ".temperature", "from 0 to 2"],
    [{ temperature: null }, ".temperature", "got null"],
    [{ topP: 1.1 }, ".topP", "must be a number from 0 to 1"],
    [{ maxOutputTokens: 15 }, ".maxOutputTokens", "an integer of at least 16, got 15"],
    [{ maxOutputTokens: 16.5 }, ".maxOutputTokens", "an integer"],
    [{ reasoning: "high" }, ".reasoning", "must be a plain object"],
    [{ reasoning: { effort: 1 } }, ".reasoning.effort", "must be a non-blank single-line string"],
    [
      { reasoning: { effort: null } },
      ".reasoning.effort",
      "must be a non-blank single-line string",
    ],
    [{ reasoning: { efort: "low" } }, ".reasoning key", 'Did you mean "effort"?'],
    [{ verbosity: "loud" }, ".verbosity", 'one of "low", "medium", "high", got "loud"'],
    [{ parallelToolCalls: 1 }, ".parallelToolCalls", "must be a boolean"],
    [{ maxToolCalls: 0 }, ".maxToolCalls", "an integer of at least 1"],
    [{ store: "no" }, ".store", "must be a boolean"],
    [{ user: "" }, ".user", "must be a non-blank single-line string"],
    [{ safetyIdentifier: "s".repeat(65) }, ".safetyIdentifier", "at most 64 characters"],
    [{ safetyIdentifier: 7 }, ".safetyIdentifier", "must be a non-blank single-line string"],
    [{ promptCacheKey: "p".repeat(65) }, ".promptCacheKey", "Shorten it, or use a hash of it."],
    [{ serviceTier: "" }, ".serviceTier", "must be a non-blank single-line string"],
    [{ metadata: [] }, ".metadata", "must be a plain object, got []"],
    [{ metadata: tooMany }, ".metadata.size", "must be an integer from 0 to 16, got 17"],
    [{ metadata: { run: 7 } }, ".metadata.run", "must be a string of at most 512 characters"],
    [{ metadata: { run: null } }, ".metadata.run", "Shorten it, and pass numbers as strings."],
    [{ metadata: { run: "x".repeat(513) } }, ".metadata.run", "at most 512 characters"],
    [{ metadata: { ["k".repeat(65)]: "v" } }, ".metadata key", "at most 64 characters"],
    [{ metadata: { "": "v" } }, ".metadata key", "must be a non-blank single-line string"],
    [{ extraBody: "x" }, ".extraBody", "must be a plain object"],
    [{ extraBody: { when: new Date(0) } }, ".extraBody", "must be JSON (value.when is a Date)"],
    [
      { extraBody: { ratio: Number.NaN } },
      ".extraBody",
      'got ["ratio"]. Use only strings, numbers',
    ],
  ])("the config %o", (config, place, says) => {
    expect(() => checkModelConfig(config as never)).toThrow(expectError(place, says));
  });

  test("an invalid config under the field name it was passed", () => {
    expect(() => checkModelConfig({ topP: 2 }, "mine")).toThrow(/^mine\.topP must be/);
  });
});

describe("an unknown key of modelConfig", () => {
  test.each([
    ["seed", "Remove it: the Responses API does not have this parameter."],
    ["stop", "Remove it: the Responses API does not have this parameter."],
    ["presencePenalty", "Remove it: the Responses API does not have this parameter."],
    ["frequency_penalty", "Remove it: the Responses API does not have this parameter."],
    ["n", "Remove it: the Responses API does not have this parameter."],
    ["maxTokens", "Use maxOutputTokens."],
    ["max_completion_tokens", "Use maxOutputTokens."],
    ["reasoningEffort", "Use reasoning: { effort }."],
    ["responseFormat", "Set the template's output schema."],
    ["top_p", 'Did you mean "topP"?'],
    ["max_output_tokens", 'Did you mean "maxOutputTokens"?'],
    ["temprature", 'Did you mean "temperature"?'],
    ["model", "Use the adapter's model option."],
    ["toolChoice", "Use the toolChoice option of the adapter or of evaluate."],
    ["previousResponseId", "Use evaluate's continue option: requests hold the whole conversation."],
    ["truncation", "Put other API fields into extraBody, in the API's spelling."],
    ["constructor", "into extraBody"],
  ])("is rejected with a remedy: %s", (key, says) => {
    const config = { [key]: 1 };
    expect(() => checkModelConfig(config)).toThrow(expectError(" key", says));
  });

  test("is rejected with its name and the list of valid keys", () => {
    const config = { seed: 12345 };
    expect(() => checkModelConfig(config as never)).toThrow(
      /^OpenAIAdapter\.modelConfig key must be one of "temperature", .*"extraBody", got "seed"\. /,
    );
  });
});

describe("checkModelConfig() rejects in extraBody", () => {
  test.each([
    ["model", "Use the adapter's model option"],
    ["input", "Put the input into the prompt's sections"],
    ["tools", "Add tools to the prompt's sections"],
    ["tool_choice", "Use the toolChoice option"],
    ["toolChoice", "Use the toolChoice option"],
    ["include", "Remove it: the adapter sets it for its tools"],
    ["store", "Use modelConfig.store"],
    ["stream", "Remove it and set the adapter's delivery"],
    ["stream_options", "Remove it: the adapter sets it"],
    ["background", "Remove it and set the adapter's delivery"],
    ["previous_response_id", "Use evaluate's continue option"],
    ["conversation", "Use evaluate's continue option"],
    ["context_management", "Use the adapter's compaction option"],
    ["text", "Use modelConfig.verbosity"],
    ["parallel_tool_calls", "Use modelConfig.parallelToolCalls"],
  ])("%s, which the adapter sets", (key, says) => {
    const make = () => checkModelConfig({ extraBody: { [key]: null } });
    expect(make).toThrow(expectError(".extraBody key", `must be omitted, got "${key}". ${says}`));
  });

  test("a field that modelConfig also sets", () => {
    const make = () => checkModelConfig({ topP: 1, extraBody: { top_p: 0.5 } });
    const says =
      'must be omitted when modelConfig.topP is set, got "top_p". Remove either setting.';
    expect(make).toThrow(expectError(".extraBody key", says));
  });
});
