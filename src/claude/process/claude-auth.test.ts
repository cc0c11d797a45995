import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { claudeAuth } from "./claude-auth.ts";

const host = {
  ANTHROPIC_API_KEY: "host-key",
  ANTHROPIC_AUTH_TOKEN: "host-token",
  CLAUDE_CODE_OAUTH_TOKEN: "host-login",
  CLAUDE_CODE_USE_BEDROCK: "1",
  AWS_REGION: "eu-west-1",
  AWS_SECRET_ACCESS_KEY: "aws-secret",
  CLAUDE_CODE_USE_VERTEX: "true",
  GOOGLE_API_KEY: "google-secret",
  CLOUD_ML_REGION: "europe-west1",
  PATH: "/bin",
};
const without = (...names: readonly (keyof typeof host)[]) =>
  Object.fromEntries(Object.entries(host).filter(([name]) => !names.some((one) => one === name)));

describe("credentials", () => {
  test("are the config's key before any other", () => {
    expect(claudeAuth({ apiKey: "mine" }, { ANTHROPIC_API_KEY: "given" }, host)).toEqual({
      kind: "apiKey",
      variables: { CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: "3" },
      handed: "mine",
      secrets: ["mine"],
    });
  });

  test("are a key that was given as a variable, or this process's", () => {
    expect(claudeAuth({}, { ANTHROPIC_API_KEY: "given" }, host).handed).toBe("given");
    expect(claudeAuth({}, {}, host).handed).toBe("host-key");
  });

  test("are a token where there is no key", () => {
    const keyless = without("ANTHROPIC_API_KEY");
    expect(claudeAuth({}, {}, { ...keyless, ANTHROPIC_API_KEY: "" })).toEqual({
      kind: "authToken",
      variables: { ANTHROPIC_AUTH_TOKEN: "host-token" },
      handed: null,
      secrets: ["host-token"],
    });
    const login = claudeAuth({}, {}, without("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"));
    expect(login).toEqual({
      kind: "oauthToken",
      variables: { CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: "3" },
      handed: "host-login",
      secrets: ["host-login"],
    });
  });

  const tokenless = without("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN");

  test("are Amazon's or Google's where the environment says so", () => {
    expect(claudeAuth({}, {}, tokenless)).toEqual({
      kind: "bedrock",
      variables: {
        CLAUDE_CODE_USE_BEDROCK: "1",
        AWS_REGION: "eu-west-1",
        AWS_SECRET_ACCESS_KEY: "aws-secret",
      },
      handed: null,
      secrets: ["aws-secret"],
    });
    expect(claudeAuth({}, {}, { ...tokenless, CLAUDE_CODE_USE_BEDROCK: "0" })).toEqual({
      kind: "vertex",
      variables: {
        CLAUDE_CODE_USE_VERTEX: "true",
        GOOGLE_API_KEY: "google-secret",
        CLOUD_ML_REGION: "europe-west1",
      },
      handed: null,
      secrets: ["google-secret"],
    });
  });

  test("of Amazon and Google are found in the real home", () => {
    const HOME = temporaryTree({ ".aws/credentials": "", ".config/gcloud/x": "" });
    const amazon = claudeAuth({}, {}, { HOME, CLAUDE_CODE_USE_BEDROCK: "1", AWS_PROFILE: "me" });
    expect(amazon.variables).toEqual({
      CLAUDE_CODE_USE_BEDROCK: "1",
      AWS_PROFILE: "me",
      AWS_SHARED_CREDENTIALS_FILE: `${HOME}/.aws/credentials`,
    });
    const google = claudeAuth({}, {}, { HOME, CLAUDE_CODE_USE_VERTEX: "1" });
    expect(google.variables).toMatchObject({ CLOUDSDK_CONFIG: `${HOME}/.config/gcloud` });
  });

  test("that are nowhere are asked for before anything starts", () => {
    expect(() => claudeAuth({}, {}, { PATH: "/bin", CLAUDE_CODE_USE_BEDROCK: "1" })).toThrow(
      expect.objectContaining({
        name: "IsolationAuthError",
        field: "isolation.apiKey",
        message:
          "isolation.apiKey must be given unless the environment has a key, a token, Bedrock or Vertex, got undefined. Set ANTHROPIC_API_KEY, or give isolation: { apiKey }",
      }),
    );
  });

  test("of this process are not used where that was refused", () => {
    expect(() => claudeAuth({ inheritAuth: false }, {}, host)).toThrow(
      "give isolation: { apiKey }, or let inheritAuth be true",
    );
    const given = { ANTHROPIC_API_KEY: "given" };
    expect(claudeAuth({ inheritAuth: false }, given, host).handed).toBe("given");
  });
});
