import { describe, expect, test } from "vitest";
import { OpenAIFileSearchSection } from "./file-search-section.ts";

describe("OpenAIFileSearchSection", () => {
  test("defaults to no stores and five results", () => {
    const section = new OpenAIFileSearchSection();
    expect(section.defaultParams).toEqual({ corpusIds: [], maxResults: 5 });
    expect(Object.keys(section.defaultParams)).toEqual(["corpusIds", "maxResults"]);
    expect(section.tool.config).toEqual({ vectorStoreIds: [], maxResults: 5 });
  });

  test("searches the given stores", () => {
    const defaultParams = { corpusIds: ["vs_1", "vs_2"], maxResults: 50 };
    const section = new OpenAIFileSearchSection({ defaultParams });
    expect(section.defaultParams).toEqual(defaultParams);
    expect(section.tool.config).toEqual({ vectorStoreIds: ["vs_1", "vs_2"], maxResults: 50 });
  });

  test("fills in omitted and undefined params", () => {
    const corpusIds = ["vs_1"];
    const whole = { corpusIds, maxResults: 5 };
    const given = [{ corpusIds }, { corpusIds, maxResults: undefined }];
    for (const defaultParams of given) {
      expect(new OpenAIFileSearchSection({ defaultParams }).defaultParams).toEqual(whole);
    }
    const none = new OpenAIFileSearchSection({ defaultParams: undefined });
    expect(none.defaultParams).toEqual({ corpusIds: [], maxResults: 5 });
  });

  test("copies and freezes its params", () => {
    const corpusIds = ["vs_1"];
    const section = new OpenAIFileSearchSection({ defaultParams: { corpusIds } });
    corpusIds.push("vs_2");
    expect(section.defaultParams).toEqual({ corpusIds: ["vs_1"], maxResults: 5 });
    expect(section.clone().defaultParams).toEqual({ corpusIds: ["vs_1"], maxResults: 5 });
    expect(Object.isFrozen(section.defaultParams.corpusIds)).toBe(true);
  });

  test("replaces all params in a clone", () => {
    const section = new OpenAIFileSearchSection({
      key: "docs",
      defaultParams: { corpusIds: ["vs_1"], maxResults: 9 },
    });
    const clone = section.clone({ defaultParams: { corpusIds: ["vs_2"] } });
    expect(clone.key).toBe("docs");
    expect(clone.defaultParams).toEqual({ corpusIds: ["vs_2"], maxResults: 5 });
    expect(clone.tool.config.vectorStoreIds).toEqual(["vs_2"]);
    const other = section.clone({ defaultParams: { ...section.defaultParams, maxResults: 3 } });
    expect(other.defaultParams).toEqual({ corpusIds: ["vs_1"], maxResults: 3 });
    expect(section.defaultParams).toEqual({ corpusIds: ["vs_1"], maxResults: 9 });
  });

  test("rejects a model without file search in nativeTools", () => {
    const nativeTools = { "gpt-4.1": ["web_search"] };
    expect(new OpenAIFileSearchSection({ model: "gpt-4.1" }).key).toBe("openai_file_search");
    expect(() => new OpenAIFileSearchSection({ model: "gpt-4.1", nativeTools })).toThrow(
      'must be a model that can run "file_search"',
    );
  });
});

test.each<[unknown, string, string]>([
  [null, "", "must be a plain object, got null"],
  [["vs_1"], "", "must be a plain object"],
  [{ vectorStoreIds: [] }, " key", 'must be one of "corpusIds", "maxResults"'],
  [{ corpus_ids: [] }, " key", 'Did you mean "corpusIds"?'],
  [{ corpusIds: "vs_1" }, ".corpusIds", "must be an array"],
  [{ corpusIds: [""] }, ".corpusIds[0]", "must be a non-blank single-line string"],
  [{ corpusIds: null }, ".corpusIds", "must be an array"],
  [{ maxResults: 0 }, ".maxResults", "must be an integer from 1 to 50"],
  [{ maxResults: 51 }, ".maxResults", "must be an integer from 1 to 50"],
  [{ maxResults: 2.5 }, ".maxResults", "must be an integer"],
])("OpenAIFileSearchSection rejects the default params %o", (defaultParams, place, says) => {
  const create = () => new OpenAIFileSearchSection({ key: "docs", defaultParams } as never);
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `Section "docs" defaultParams${place}`,
    message: expect.stringContaining(says),
  });
  expect(create).toThrow(refusal);
});
