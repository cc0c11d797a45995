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

  test.each([
    [{ temperature: 1 }, "ClaudeAgentSDKAdapter key must be one of"],
    [{ model: "" }, "ClaudeAgentSDKAdapter.model must be one line of text that is not blank"],
    [{ permissionMode: "yolo" }, "ClaudeAgentSDKAdapter.permissionMode must be one of"],
    [{ unsupportedHostedTools: "drop" }, "unsupportedHostedTools must be one of"],
    [{ rollBackFailedNativeTools: 1 }, "rollBackFailedNativeTools must be a boolean"],
    [{ hostedTools: { fileSearch: {} } }, "ClaudeAgentSDKAdapter.hostedTools key must be one of"],
    [{ isolation: { apiKey: "" } }, "isolation.apiKey must be one word of ASCII"],
    [{ throttle: { maxAttempts: 0 } }, "throttle.maxAttempts must be a whole number from 1"],
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
