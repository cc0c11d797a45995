import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { ClaudeAgentSDKAdapter } from "./adapter.ts";
import { toAdapterSettings } from "./adapter-options.ts";

const createAdapter = (options: object) => () => new ClaudeAgentSDKAdapter(options);

describe("ClaudeAgentSDKAdapter options", () => {
  test("are all optional and have defaults", () => {
    expect(new ClaudeAgentSDKAdapter()).toMatchObject({ name: "claude", model: null });
    expect(toAdapterSettings()).toMatchObject({
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

  test("are kept in the adapter's settings", () => {
    const sdk = { query: async function* () {} };
    const options = { model: "claude-sonnet-5", maxTurns: 7, rollBackFailedNativeTools: true, sdk };
    const hostedTools = { codeInterpreter: true, webSearch: true };
    expect(toAdapterSettings({ ...options, hostedTools, env: { TZ: "UTC" } })).toMatchObject({
      model: "claude-sonnet-5",
      maxTurns: 7,
      rollsBack: true,
      sdk,
      hostedTools: [{ kind: "code_interpreter" }, { kind: "web_search" }],
      env: { TZ: "UTC" },
    });
    expect(new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5" }).model).toBe("claude-sonnet-5");
  });

  test("convert modelConfig to SDK options and variables, which env overrides", () => {
    const options = {
      model: "claude-sonnet-5",
      modelConfig: { effort: "low", maxOutputTokens: 9 },
    } as const;
    const env = { TZ: "UTC", CLAUDE_CODE_MAX_OUTPUT_TOKENS: "9" };
    expect(toAdapterSettings({ ...options, env: { TZ: "UTC" } })).toMatchObject({
      modelOptions: { model: "claude-sonnet-5", effort: "low" },
      env,
    });
    const own = { CLAUDE_CODE_MAX_OUTPUT_TOKENS: "5" };
    expect(toAdapterSettings({ ...options, env: own }).env).toEqual(own);
  });

  test("provide the workspace's hosted tools, and only read tools in plan mode", () => {
    const listKinds = (permissionMode: "dontAsk" | "plan") =>
      toAdapterSettings({ permissionMode }).fileTools.map(({ kind }) => kind);
    expect(listKinds("plan")).toEqual(["claude_read", "claude_glob", "claude_grep"]);
    expect(listKinds("dontAsk")).toEqual([...listKinds("plan"), "claude_write", "claude_edit"]);
  });

  test.each([
    [{ temperature: 1 }, "ClaudeAgentSDKAdapter key must be one of"],
    [{ model: "" }, "ClaudeAgentSDKAdapter.model must be a non-blank single-line string"],
    [{ permissionMode: "yolo" }, "ClaudeAgentSDKAdapter.permissionMode must be one of"],
    [{ unsupportedHostedTools: "drop" }, "unsupportedHostedTools must be one of"],
    [{ rollBackFailedNativeTools: 1 }, "rollBackFailedNativeTools must be a boolean"],
    [{ hostedTools: { fileSearch: {} } }, "ClaudeAgentSDKAdapter.hostedTools key must be one of"],
    [{ isolation: { apiKey: "" } }, "isolation.apiKey must consist of printable ASCII characters"],
    [{ throttle: { maxAttempts: 0 } }, "throttle.maxAttempts must be a positive integer"],
    [{ sdk: {} }, "ClaudeAgentSDKAdapter.sdk must be the package @anthropic-ai/claude-agent-sdk"],
  ])("reject %o", (options, message) => {
    expect(createAdapter(options)).toThrow(InvalidOptionError);
    expect(createAdapter(options)).toThrow(message);
  });

  test("do not quote an env value that is not a string, because it may be a secret", () => {
    const options = { env: { DATABASE_PASSWORD: 12345 } };
    expect(createAdapter(options)).toThrow(
      "ClaudeAgentSDKAdapter.env must be an object of strings",
    );
    expect(createAdapter(options)).not.toThrow("12345");
  });
});
