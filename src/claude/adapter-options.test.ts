import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { ClaudeAgentSDKAdapter } from "./adapter.ts";
import { adapterSettings } from "./adapter-options.ts";

const making = (options: object) => () => new ClaudeAgentSDKAdapter(options);

describe("an adapter for Claude", () => {
  test("needs no options, and has defaults of its own", () => {
    expect(new ClaudeAgentSDKAdapter()).toMatchObject({ name: "claude", model: null });
    expect(adapterSettings()).toMatchObject({
      permissionMode: "dontAsk",
      isolation: {},
      env: {},
      maxTurns: undefined,
      hostedTools: [],
      unsupported: "error",
      rollsBack: false,
      sdk: null,
    });
  });

  test("keeps what it is given", () => {
    const sdk = { query: async function* () {} };
    const given = { model: "claude-sonnet-5", maxTurns: 7, rollBackFailedNativeTools: true, sdk };
    const hostedTools = { codeInterpreter: true, webSearch: true };
    expect(adapterSettings({ ...given, hostedTools, env: { TZ: "UTC" } })).toMatchObject({
      model: "claude-sonnet-5",
      maxTurns: 7,
      rollsBack: true,
      sdk,
      hostedTools: [{ kind: "code_interpreter" }, { kind: "web_search" }],
      env: { TZ: "UTC" },
    });
    expect(new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5" }).model).toBe("claude-sonnet-5");
  });

  test("turns its model config into options and variables of the SDK, which env overrides", () => {
    const options = {
      model: "claude-sonnet-5",
      modelConfig: { effort: "low", maxOutputTokens: 9 },
    } as const;
    const env = { TZ: "UTC", CLAUDE_CODE_MAX_OUTPUT_TOKENS: "9" };
    expect(adapterSettings({ ...options, env: { TZ: "UTC" } })).toMatchObject({
      modelOptions: { model: "claude-sonnet-5", effort: "low" },
      env,
    });
    const own = { CLAUDE_CODE_MAX_OUTPUT_TOKENS: "5" };
    expect(adapterSettings({ ...options, env: own }).env).toEqual(own);
  });

  test("has the hosted tools of a workspace ready, of which plan mode has fewer", () => {
    const kinds = (permissionMode: "dontAsk" | "plan") =>
      adapterSettings({ permissionMode }).fileTools.map(({ kind }) => kind);
    expect(kinds("plan")).toEqual(["claude_read", "claude_glob", "claude_grep"]);
    expect(kinds("dontAsk")).toEqual([...kinds("plan"), "claude_write", "claude_edit"]);
  });

  test.each([
    [{ temperature: 1 }, "ClaudeAgentSDKAdapter key must be one of"],
    [{ model: "" }, "ClaudeAgentSDKAdapter.model must be a non-blank single-line string"],
    [{ permissionMode: "yolo" }, "ClaudeAgentSDKAdapter.permissionMode must be one of"],
    [{ unsupportedHostedTools: "drop" }, "unsupportedHostedTools must be one of"],
    [{ rollBackFailedNativeTools: 1 }, "rollBackFailedNativeTools must be a boolean"],
    [{ hostedTools: { fileSearch: {} } }, "ClaudeAgentSDKAdapter.hostedTools key must be one of"],
    [{ isolation: { apiKey: "" } }, "isolation.apiKey must be one word of ASCII"],
    [{ throttle: { maxAttempts: 0 } }, "throttle.maxAttempts must be a positive integer"],
    [{ sdk: {} }, "ClaudeAgentSDKAdapter.sdk must be the package @anthropic-ai/claude-agent-sdk"],
  ])("is not made with %o", (options, message) => {
    expect(making(options)).toThrow(InvalidOptionError);
    expect(making(options)).toThrow(message);
  });

  test("does not quote a variable that is no text, for it may be a secret", () => {
    const options = { env: { DATABASE_PASSWORD: 12345 } };
    expect(making(options)).toThrow("ClaudeAgentSDKAdapter.env must be an object of texts");
    expect(making(options)).not.toThrow("12345");
  });
});
