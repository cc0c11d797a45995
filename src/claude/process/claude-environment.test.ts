import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createClaudeEnvironment, type EnvironmentSources } from "./claude-environment.ts";

const host = {
  PATH: "/usr/bin",
  LANG: "C.UTF-8",
  LC_ALL: "C",
  TZ: "UTC",
  TERM: "xterm",
  HOME: "/home/me",
  TMPDIR: "/var/tmp",
  HTTPS_PROXY: "http://proxy:3128",
  NODE_EXTRA_CA_CERTS: "/etc/ca.pem",
  ANTHROPIC_API_KEY: "host-key",
  ANTHROPIC_BASE_URL: "https://gateway.example.com",
  AWS_REGION: "eu-west-1",
  OPENAI_API_KEY: "sk-openai",
  GITHUB_TOKEN: "ghp",
  MY_SECRET: "s",
  STRIPE_KEY: "s",
  DB_PASSWORD: "s",
  DATABASE_URL: "postgres://me:pass@db/x",
  NODE_OPTIONS: "--require ./mine.js",
  EDITOR: "vi",
};

function createVariables(
  sources: Partial<EnvironmentSources> = {},
): Readonly<Record<string, string>> {
  const folders = { home: "/run/home", temporary: "/run/tmp" };
  return createClaudeEnvironment({ isolation: {}, host, ...folders, ...sources }).variables;
}

describe("createClaudeEnvironment()", () => {
  test("inherits only harmless variables of this process", () => {
    expect(Object.keys(createVariables()).sort()).toEqual(
      [
        ...["PATH", "LANG", "LC_ALL", "TZ", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"],
        ...["HOME", "CLAUDE_CONFIG_DIR", "TMPDIR", "TERM", "ANTHROPIC_BASE_URL"],
        ...["CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"],
        ...["DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"],
        ...["CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"],
        ...["CLAUDE_CODE_MAX_RETRIES", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS"],
        "CLAUDE_CODE_SILENT_TURN_REMINDER",
      ].sort(),
    );
  });

  test("sets a separate home, temporary folder and terminal", () => {
    expect(createVariables()).toMatchObject({
      HOME: "/run/home",
      CLAUDE_CONFIG_DIR: "/run/home/.claude",
      TMPDIR: "/run/tmp",
      TERM: "dumb",
    });
  });

  test("does not contain the API key", () => {
    const configured = { ANTHROPIC_API_KEY: "configured", CLAUDE_CODE_USE_BEDROCK: "1" };
    const { variables, auth } = createClaudeEnvironment({
      isolation: { env: configured },
      host,
      home: "/h",
      temporary: "/t",
    });
    expect(auth.pipedSecret).toBe("configured");
    expect(Object.values(variables)).not.toContain("configured");
    expect(variables).not.toHaveProperty("CLAUDE_CODE_USE_BEDROCK");
  });

  test("inherits all variables but likely secrets if includeHostEnv is set", () => {
    const more = createVariables({ isolation: { includeHostEnv: true } });
    const fewer = createVariables();
    expect(Object.keys(more).filter((name) => !(name in fewer))).toEqual(["EDITOR"]);
  });

  test("lets configured variables override all others, and the adapter's override isolation.env", () => {
    const isolation = { env: { TERM: "vt100", A: "isolation", B: "isolation" } };
    expect(createVariables({ isolation, env: { B: "adapter" } })).toMatchObject({
      TERM: "vt100",
      A: "isolation",
      B: "adapter",
    });
  });

  test("takes the base URL from the config, the configured variables, or this process", () => {
    const env = { ANTHROPIC_BASE_URL: "http://configured" };
    const findBaseUrl = (sources: Partial<EnvironmentSources>) =>
      createVariables(sources)["ANTHROPIC_BASE_URL"];
    expect(findBaseUrl({ isolation: { baseURL: "http://config" }, env })).toBe("http://config");
    expect(findBaseUrl({ env })).toBe("http://configured");
    expect(findBaseUrl({})).toBe("https://gateway.example.com");
    expect(findBaseUrl({ host: { ANTHROPIC_API_KEY: "k" } })).toBeUndefined();
  });

  test("uses this process's environment by default", () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "from-this-process");
    vi.stubEnv("TZ", "Asia/Tokyo");
    vi.stubEnv("LANG", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { variables, auth } = createClaudeEnvironment({
      isolation: {},
      home: "/h",
      temporary: "/t",
    });
    expect(auth.pipedSecret).toBe("from-this-process");
    expect(variables).toMatchObject({ TZ: "Asia/Tokyo" });
    expect(variables).not.toHaveProperty("LANG");
  });

  test("throws without credentials", () => {
    expect(() => createVariables({ host: {} })).toThrow("Set ANTHROPIC_API_KEY");
  });
});
