import { describe, expect, test } from "vitest";
import { type ClaudeHostedToolsConfig, createHostedTools } from "./hosted-tools-config.ts";

const listKinds = (config?: ClaudeHostedToolsConfig) =>
  createHostedTools(config).map(({ kind }) => kind);

describe("createHostedTools()", () => {
  test.each([
    undefined,
    {},
    { codeInterpreter: false, webSearch: false },
    { webSearch: undefined },
  ])("returns no tools for %j", (config) => {
    expect(createHostedTools(config)).toEqual([]);
    expect(createHostedTools(config)).toSatisfy(Object.isFrozen);
  });

  test("returns the enabled tools", () => {
    expect(listKinds({ codeInterpreter: true })).toEqual(["code_interpreter"]);
    expect(listKinds({ webSearch: true })).toEqual(["web_search"]);
    expect(listKinds({ codeInterpreter: true, webSearch: {} })).toEqual([
      "code_interpreter",
      "web_search",
    ]);
  });

  test("passes a tool's config to the tool", () => {
    const [search] = createHostedTools({ webSearch: { allowLiveAccess: false } });
    expect(search?.config).toMatchObject({ allowLiveAccess: false });
  });

  test.each([
    [{ webSaerch: true }, "ClaudeAgentSDKAdapter.hostedTools"],
    [{ codeInterpreter: {} }, "ClaudeAgentSDKAdapter.hostedTools.codeInterpreter"],
    ["all", "ClaudeAgentSDKAdapter.hostedTools must be a plain object"],
    [{ webSearch: "yes" }, "must be a plain object"],
    [{ webSearch: null }, "must be a plain object"],
  ])("rejects %j", (config, message) => {
    expect(() => createHostedTools(config as ClaudeHostedToolsConfig)).toThrow(message);
  });

  test("uses the caller's field name in errors", () => {
    const config = { shell: true } as ClaudeHostedToolsConfig;
    expect(() => createHostedTools(config, "with(options).hostedTools")).toThrow(
      "with(options).hostedTools",
    );
  });
});
