import { describe, expect, test } from "vitest";
import { type ClaudeHostedToolsConfig, createHostedTools } from "./hosted-tools-config.ts";

const kinds = (config?: ClaudeHostedToolsConfig) =>
  createHostedTools(config).map(({ kind }) => kind);

describe("hosted tools of the adapter", () => {
  test.each([
    undefined,
    {},
    { codeInterpreter: false, webSearch: false },
    { webSearch: undefined },
  ])("are none where nothing is switched on: %j", (config) => {
    expect(createHostedTools(config)).toEqual([]);
    expect(createHostedTools(config)).toSatisfy(Object.isFrozen);
  });

  test("are those that are switched on", () => {
    expect(kinds({ codeInterpreter: true })).toEqual(["code_interpreter"]);
    expect(kinds({ webSearch: true })).toEqual(["web_search"]);
    expect(kinds({ codeInterpreter: true, webSearch: {} })).toEqual([
      "code_interpreter",
      "web_search",
    ]);
  });

  test("take a config of their own", () => {
    const [search] = createHostedTools({ webSearch: { allowLiveAccess: false } });
    expect(search?.config).toMatchObject({ allowLiveAccess: false });
  });

  test.each([
    [{ webSaerch: true }, "ClaudeAgentSDKAdapter.hostedTools"],
    [{ codeInterpreter: {} }, "ClaudeAgentSDKAdapter.hostedTools.codeInterpreter"],
    ["all", "ClaudeAgentSDKAdapter.hostedTools must be a plain object"],
    [{ webSearch: "yes" }, "must be a plain object"],
    [{ webSearch: null }, "must be a plain object"],
  ])("are refused: %j", (config, words) => {
    expect(() => createHostedTools(config as ClaudeHostedToolsConfig)).toThrow(words);
  });

  test("are refused in the words of whoever asks for them", () => {
    const config = { shell: true } as ClaudeHostedToolsConfig;
    expect(() => createHostedTools(config, "with(options).hostedTools")).toThrow(
      "with(options).hostedTools",
    );
  });
});
