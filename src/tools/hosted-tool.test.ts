import { describe, expect, test } from "vitest";
import { checkConfig, HostedTool, type HostedToolOptions } from "./hosted-tool.ts";
import { ToolResult } from "./tool-result.ts";

function options(
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

describe("a hosted tool", () => {
  test("is what it was given, for any provider and without a hook unless they are named", () => {
    expect(new HostedTool(options())).toEqual({
      kind: "file_search",
      name: "search_docs",
      description: "Searches the documents.",
      config: { stores: ["vs_1"] },
      live: {},
      provider: null,
      handleProviderOutput: null,
    });
    const handleProviderOutput = (output: unknown) => ToolResult.ok(output);
    const tool = new HostedTool(options({ provider: "openai", handleProviderOutput }));
    expect(tool).toMatchObject({ provider: "openai", handleProviderOutput });
  });

  test("is frozen, and so is its copy of the config", () => {
    const config = { stores: ["vs_1"], filter: { type: "eq" } };
    const tool = new HostedTool(options({ config }));
    config.stores.push("vs_2");
    expect(tool.config.stores).toEqual(["vs_1"]);
    expect([tool, tool.config, tool.config.stores, tool.live].every(Object.isFrozen)).toBe(true);
    expect([config, config.stores, config.filter].some(Object.isFrozen)).toBe(false);
  });

  test("holds live objects as they are", () => {
    class Executor {
      runs = 0;
    }
    const live = { executor: new Executor() };
    const tool = new HostedTool({ ...options(), live });
    expect(tool.live.executor).toBe(live.executor);
    live.executor.runs += 1;
    expect(live).not.toSatisfy(Object.isFrozen);
  });

  test("can be extended, with fields of its own", () => {
    class DatedTool extends HostedTool {
      readonly year = 2030;
    }
    expect(new DatedTool(options()).year).toBe(2030);
  });

  test.each(["a", "a".repeat(64), "web-search", "web_search", "9lives"])(
    "may be called %j",
    (name) => {
      expect(new HostedTool(options({ name })).name).toBe(name);
    },
  );

  test.each(["", "  ", " docs ", "Docs", "a".repeat(65), "docs!", "a b", undefined])(
    "cannot be called %j",
    (name) => {
      expect(() => new HostedTool(options({ name }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: "HostedTool.name",
          value: name,
          message: expect.stringMatching(/must be 1-64 of a-z, 0-9, _ and -.*: write it like "/),
        }),
      );
    },
  );

  test("may have 200 characters to describe it", () => {
    const description = "x".repeat(200);
    expect(new HostedTool(options({ description })).description).toBe(description);
  });

  test.each(["", "  ", "x".repeat(201), "Größe", "one\ntwo", undefined])(
    "cannot be described by %j",
    (description) => {
      expect(() => new HostedTool(options({ description }))).toThrow(
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
  ])("is refused with %o", (changes, part) => {
    expect(() => new HostedTool(options(changes))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: `HostedTool "search_docs" ${part}`,
        value: Object.values(changes)[0],
      }),
    );
  });
});

describe("a config", () => {
  test("is given back if it is plain data", () => {
    const config = { a: 1 };
    expect(checkConfig(config, "config")).toBe(config);
  });

  test.each([null, undefined, [], "x", new Map()])("cannot be %o", (config) => {
    expect(() => checkConfig(config as never, "Tool.config")).toThrow(
      /^Tool.config must be a plain object, got .*. Write { … }, or {} for the defaults$/,
    );
  });
});
