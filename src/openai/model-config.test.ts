import { describe, expect, test } from "vitest";
import { checkModelConfig, modelFields, type OpenAIModelConfig } from "./model-config.ts";

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

describe("a model config on the wire", () => {
  test("has every field under the API's name; verbosity and extraBody go elsewhere", () => {
    expect(modelFields(everything)).toEqual({
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

  test("has nothing that was not given", () => {
    expect(Object.keys(modelFields(checkModelConfig()))).toEqual([]);
    const unsaid = Object.fromEntries(Object.keys(everything).map((key) => [key, undefined]));
    expect(Object.keys(modelFields(checkModelConfig(unsaid)))).toEqual([]);
  });

  test("has what is false or nought", () => {
    expect(modelFields({ temperature: 0, topP: 0, store: false })).toEqual({
      temperature: 0,
      top_p: 0,
      store: false,
    });
  });
});

describe("a model config", () => {
  test("is taken as a frozen copy", () => {
    const metadata = { run: "7" };
    const config = checkModelConfig({ ...everything, metadata });
    metadata.run = "8";
    expect(config).toEqual({ ...everything, metadata: { run: "7" } });
    expect(
      [config, config.metadata, config.reasoning, config.extraBody].every(Object.isFrozen),
    ).toBe(true);
  });

  test("may go to the limits", () => {
    const most = { temperature: 2, topP: 1, maxOutputTokens: 1_000_000, maxToolCalls: 1_000 };
    expect(checkModelConfig(most)).toEqual(most);
    const pairs = Array.from({ length: 16 }, (_, index) => [`key ${index}`.padEnd(64, "k"), "v"]);
    const metadata = Object.fromEntries(pairs);
    expect(checkModelConfig({ metadata })).toEqual({ metadata });
  });

  test("counts characters, not halves of them", () => {
    const promptCacheKey = "🦉".repeat(64);
    const metadata = { owls: "🦉".repeat(512) };
    expect(checkModelConfig({ promptCacheKey, metadata })).toEqual({ promptCacheKey, metadata });
  });

  test("may say in extraBody what it does not say itself", () => {
    const extraBody = { temperature: 1, reasoning: { effort: "low", newest: true } };
    expect(checkModelConfig({ extraBody, topP: 1 })).toEqual({ extraBody, topP: 1 });
  });
});

const refusal = (place: string, says: string) =>
  expect.objectContaining({
    name: "PromptValidationError",
    field: `OpenAIAdapter.modelConfig${place}`,
    message: expect.stringContaining(says),
  });

const tooMany = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"]));

describe("a model config is refused", () => {
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
    [{ reasoning: { efort: "low" } }, ".reasoning key", 'did you mean "effort"?'],
    [{ verbosity: "loud" }, ".verbosity", 'one of "low", "medium", "high", got "loud"'],
    [{ parallelToolCalls: 1 }, ".parallelToolCalls", "must be a boolean"],
    [{ maxToolCalls: 0 }, ".maxToolCalls", "an integer of at least 1"],
    [{ store: "no" }, ".store", "must be a boolean"],
    [{ user: "" }, ".user", "must be a non-blank single-line string"],
    [{ safetyIdentifier: "s".repeat(65) }, ".safetyIdentifier", "at most 64 characters"],
    [{ safetyIdentifier: 7 }, ".safetyIdentifier", "must be a non-blank single-line string"],
    [{ promptCacheKey: "p".repeat(65) }, ".promptCacheKey", "shorten it, or use a hash of it"],
    [{ serviceTier: "" }, ".serviceTier", "must be a non-blank single-line string"],
    [{ metadata: [] }, ".metadata", "must be a plain object, got []"],
    [{ metadata: tooMany }, ".metadata.size", "must be an integer from 0 to 16, got 17"],
    [{ metadata: { run: 7 } }, ".metadata.run", "must be a text of at most 512 characters"],
    [{ metadata: { run: null } }, ".metadata.run", "numbers go as texts"],
    [{ metadata: { run: "x".repeat(513) } }, ".metadata.run", "at most 512 characters"],
    [{ metadata: { ["k".repeat(65)]: "v" } }, ".metadata key", "at most 64 characters"],
    [{ metadata: { "": "v" } }, ".metadata key", "must be a non-blank single-line string"],
    [{ extraBody: "x" }, ".extraBody", "must be a plain object"],
    [{ extraBody: { when: new Date(0) } }, ".extraBody", "must be JSON (value.when is a Date)"],
    [{ extraBody: { ratio: Number.NaN } }, ".extraBody", 'got ["ratio"]. Give texts'],
  ])("as %o", (config, place, says) => {
    expect(() => checkModelConfig(config as never)).toThrow(refusal(place, says));
  });

  test("under another name, if it has one", () => {
    expect(() => checkModelConfig({ topP: 2 }, "mine")).toThrow(/^mine\.topP must be/);
  });
});

describe("a key that there is not", () => {
  test.each([
    ["seed", "the Responses API has no such parameter"],
    ["stop", "the Responses API has no such parameter"],
    ["presencePenalty", "the Responses API has no such parameter"],
    ["frequency_penalty", "the Responses API has no such parameter"],
    ["n", "the Responses API has no such parameter"],
    ["maxTokens", "use maxOutputTokens"],
    ["max_completion_tokens", "use maxOutputTokens"],
    ["reasoningEffort", "use reasoning: { effort }"],
    ["responseFormat", "give the template an output schema"],
    ["top_p", 'did you mean "topP"?'],
    ["max_output_tokens", 'did you mean "maxOutputTokens"?'],
    ["temprature", 'did you mean "temperature"?'],
    ["model", "use the adapter's model option"],
    ["toolChoice", "use the toolChoice option of the adapter or of evaluate"],
    ["previousResponseId", "the adapter sends the whole conversation"],
    ["truncation", "goes into extraBody, spelled as the API spells it"],
    ["constructor", "goes into extraBody"],
  ])("is answered with what to do: %s", (key, says) => {
    const config = { [key]: 1 };
    expect(() => checkModelConfig(config)).toThrow(refusal(" key", says));
  });

  test("is told of by name, with all that there are", () => {
    const config = { seed: 12345 };
    expect(() => checkModelConfig(config as never)).toThrow(
      /^OpenAIAdapter\.modelConfig key must be one of "temperature", .*"extraBody", got "seed": /,
    );
  });
});

describe("extraBody may not hold", () => {
  test.each([
    ["model", "use the adapter's model option"],
    ["input", "what the prompt's sections say is the input"],
    ["tools", "give the prompt's sections tools"],
    ["tool_choice", "use the toolChoice option"],
    ["toolChoice", "use the toolChoice option"],
    ["include", "the adapter asks for what its tools need"],
    ["store", "use modelConfig.store"],
    ["stream", "answers are read whole"],
    ["stream_options", "answers are read whole"],
    ["background", "answers are waited for"],
    ["previous_response_id", "the adapter sends the whole conversation"],
    ["conversation", "the adapter sends the whole conversation"],
    ["context_management", "use the adapter's compaction option"],
    ["text", "use modelConfig.verbosity"],
    ["parallel_tool_calls", "use modelConfig.parallelToolCalls"],
  ])("%s, which the adapter writes", (key, says) => {
    const make = () => checkModelConfig({ extraBody: { [key]: null } });
    expect(make).toThrow(refusal(".extraBody key", `must be left out, got "${key}": ${says}`));
  });

  test("what is said beside it", () => {
    const make = () => checkModelConfig({ topP: 1, extraBody: { top_p: 0.5 } });
    const says = 'must be left out beside modelConfig.topP, got "top_p". Say it once';
    expect(make).toThrow(refusal(".extraBody key", says));
  });
});
