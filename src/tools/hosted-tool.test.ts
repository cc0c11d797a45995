import { describe, expect, test } from "vitest";
import { checkConfig, HostedTool, type HostedToolOptions } from "./hosted-tool.ts";
import { ToolResult } from "./tool-result.ts";

function createOptions(
  changes: Readonly<Record<string, unknown>> = {},
): HostedToolOptions<{ readonly stores: string[] }, unknown> {
  const whole = {
    kind: "file_search",
    name: "search_docs",
    description: "Searches the documents.",
    config: { stores: ["vs_1"] },
  };
  return { ...whole, ...changes } as never;
}

describe("HostedTool", () => {
  test("has the given options, for any provider and without a hook by default", () => {
    expect(new HostedTool(createOptions())).toEqual({
      kind: "file_search",
      name: "search_docs",
      description: "Searches the documents.",
      config: { stores: ["vs_1"] },
      live: {},
      provider: null,
      handleProviderOutput: null,
    });
    const handleProviderOutput = (output: unknown) => ToolResult.ok(output);
    const tool = new HostedTool(createOptions({ provider: "openai", handleProviderOutput }));
    expect(tool).toMatchObject({ provider: "openai", handleProviderOutput });
  });

  test("is frozen, including its copy of the config", () => {
    const config = { stores: ["vs_1"], filter: { type: "eq" } };
    const tool = new HostedTool(createOptions({ config }));
    config.stores.push("vs_2");
    expect(tool.config.stores).toEqual(["vs_1"]);
    expect([tool, tool.config, tool.config.stores, tool.live].every(Object.isFrozen)).toBe(true);
    expect([config, config.stores, config.filter].some(Object.isFrozen)).toBe(false);
  });

  test("stores live objects without copying them", () => {
    class Executor {
      runs = 0;
    }
    const live = { executor: new Executor() };
    const tool = new HostedTool({ ...createOptions(), live });
    expect(tool.live.executor).toBe(live.executor);
    live.executor.runs += 1;
    expect(live).not.toSatisfy(Object.isFrozen);
  });

  test("can be subclassed with additional fields", () => {
    class DatedTool extends HostedTool {
      readonly year = 2030;
    }
    expect(new DatedTool(createOptions()).year).toBe(2030);
  });

  test.each(["a", "a".repeat(64), "web-search", "web_search", "9lives"])(
    "accepts the name %j",
    (name) => {
      expect(new HostedTool(createOptions({ name })).name).toBe(name);
    },
  );

  test.each(["", "  ", " docs ", "Docs", "a".repeat(65), "docs!", "a b", undefined])(
    "rejects the name %j",
    (name) => {
      expect(() => new HostedTool(createOptions({ name }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: "HostedTool.name",
          value: name,
          message: expect.stringMatching(/must be 1-64 of a-z, 0-9, _ and -.*\. Write it like "/),
        }),
      );
    },
  );

  test("accepts a description of 200 characters", () => {
    const description = "x".repeat(200);
    expect(new HostedTool(createOptions({ description })).description).toBe(description);
  });

  test.each(["", "  ", "x".repeat(201), "Größe", "one\ntwo", undefined])(
    "rejects the description %j",
    (description) => {
      expect(() => new HostedTool(createOptions({ description }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: 'HostedTool "search_docs" description',
          value: description,
        }),
      );
    },
  );

  test.each([
    [{ kind: "" }, "kind"],
    [{ kind: "File Search" }, "kind"],
    [{ kind: undefined }, "kind"],
    [{ config: undefined }, "config"],
    [{ config: ["vs_1"] }, "config"],
    [{ provider: "" }, "provider"],
    [{ provider: "OpenAI" }, "provider"],
    [{ handleProviderOutput: "hook" }, "handleProviderOutput"],
  ])("rejects %o", (changes, part) => {
    expect(() => new HostedTool(createOptions(changes))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: `HostedTool "search_docs" ${part}`,
        value: Object.values(changes)[0],
      }),
    );
  });
});

describe("checkConfig()", () => {
  test("returns a plain object unchanged", () => {
    const config = { a: 1 };
    expect(checkConfig(config, "config")).toBe(config);
  });

  test.each([null, undefined, [], "x", new Map()])("rejects the config %o", (config) => {
    expect(() => checkConfig(config as never, "Tool.config")).toThrow(
      /^Tool.config must be a plain object, got .*\. Use { … }, or {} for the defaults\.$/,
    );
  });
});
