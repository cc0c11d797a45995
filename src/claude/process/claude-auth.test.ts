import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { resolveAuth } from "./claude-auth.ts";

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
const omitVariables = (...names: readonly (keyof typeof host)[]) =>
  Object.fromEntries(Object.entries(host).filter(([name]) => !names.some((one) => one === name)));

describe("resolveAuth()", () => {
  test("prefers the config's key", () => {
    expect(resolveAuth({ apiKey: "mine" }, { ANTHROPIC_API_KEY: "configured" }, host)).toEqual({
      kind: "apiKey",
      variables: { CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: "3" },
      pipedSecret: "mine",
      secrets: ["mine"],
    });
  });

  test("uses a key from the configured variables, then from this process", () => {
    expect(resolveAuth({}, { ANTHROPIC_API_KEY: "configured" }, host).pipedSecret).toBe(
      "configured",
    );
    expect(resolveAuth({}, {}, host).pipedSecret).toBe("host-key");
  });

  test("uses a token if the key is missing", () => {
    const keyless = omitVariables("ANTHROPIC_API_KEY");
    expect(resolveAuth({}, {}, { ...keyless, ANTHROPIC_API_KEY: "" })).toEqual({
      kind: "authToken",
      variables: { ANTHROPIC_AUTH_TOKEN: "host-token" },
      pipedSecret: null,
      secrets: ["host-token"],
    });
    const login = resolveAuth({}, {}, omitVariables("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"));
    expect(login).toEqual({
      kind: "oauthToken",
      variables: { CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: "3" },
      pipedSecret: "host-login",
      secrets: ["host-login"],
    });
  });

  const tokenless = omitVariables(
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
  );

  test("uses Bedrock or Vertex if the environment selects them", () => {
    expect(resolveAuth({}, {}, tokenless)).toEqual({
      kind: "bedrock",
      variables: {
        CLAUDE_CODE_USE_BEDROCK: "1",
        AWS_REGION: "eu-west-1",
        AWS_SECRET_ACCESS_KEY: "aws-secret",
      },
      pipedSecret: null,
      secrets: ["aws-secret"],
    });
    expect(resolveAuth({}, {}, { ...tokenless, CLAUDE_CODE_USE_BEDROCK: "0" })).toEqual({
      kind: "vertex",
      variables: {
        CLAUDE_CODE_USE_VERTEX: "true",
        GOOGLE_API_KEY: "google-secret",
        CLOUD_ML_REGION: "europe-west1",
      },
      pipedSecret: null,
      secrets: ["google-secret"],
    });
  });

  test("finds AWS and Google Cloud credentials in the user's real home", () => {
    const HOME = temporaryTree({ ".aws/credentials": "", ".config/gcloud/x": "" });
    const amazon = resolveAuth({}, {}, { HOME, CLAUDE_CODE_USE_BEDROCK: "1", AWS_PROFILE: "me" });
    expect(amazon.variables).toEqual({
      CLAUDE_CODE_USE_BEDROCK: "1",
      AWS_PROFILE: "me",
      AWS_SHARED_CREDENTIALS_FILE: `${HOME}/.aws/credentials`,
    });
    const google = resolveAuth({}, {}, { HOME, CLAUDE_CODE_USE_VERTEX: "1" });
    expect(google.variables).toMatchObject({ CLOUDSDK_CONFIG: `${HOME}/.config/gcloud` });
  });

  test("throws IsolationAuthError without credentials", () => {
    expect(() => resolveAuth({}, {}, { PATH: "/bin", CLAUDE_CODE_USE_BEDROCK: "1" })).toThrow(
      expect.objectContaining({
        name: "IsolationAuthError",
        field: "isolation.apiKey",
        message:
          "isolation.apiKey must be set, unless the environment has a key, a token, Bedrock or Vertex credentials, got undefined. Set ANTHROPIC_API_KEY, or pass isolation: { apiKey }.",
      }),
    );
  });

  test("ignores this process's credentials if inheritAuth is false", () => {
    expect(() => resolveAuth({ inheritAuth: false }, {}, host)).toThrow(
      "Pass isolation: { apiKey }, or set inheritAuth to true",
    );
    const configured = { ANTHROPIC_API_KEY: "configured" };
    expect(resolveAuth({ inheritAuth: false }, configured, host).pipedSecret).toBe("configured");
  });
});
