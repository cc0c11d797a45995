import { describe, expect, onTestFinished, test, vi } from "vitest";
import { claudeEnvironment, type EnvironmentSources } from "./environment.ts";

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

function variablesOf(sources: Partial<EnvironmentSources> = {}): Readonly<Record<string, string>> {
  const places = { home: "/run/home", temporary: "/run/tmp" };
  return claudeEnvironment({ isolation: {}, host, ...places, ...sources }).variables;
}

describe("the environment of the SDK's process", () => {
  test("has of this process's only what is harmless", () => {
    expect(Object.keys(variablesOf()).sort()).toEqual(
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

  test("gives it a home, a temporary folder and a name of its own", () => {
    expect(variablesOf()).toMatchObject({
      HOME: "/run/home",
      CLAUDE_CONFIG_DIR: "/run/home/.claude",
      TMPDIR: "/run/tmp",
      TERM: "dumb",
    });
  });

  test("has no key in it: that goes another way", () => {
    const given = { ANTHROPIC_API_KEY: "given", CLAUDE_CODE_USE_BEDROCK: "1" };
    const { variables, auth } = claudeEnvironment({
      isolation: { env: given },
      host,
      home: "/h",
      temporary: "/t",
    });
    expect(auth.handed).toBe("given");
    expect(Object.values(variables)).not.toContain("given");
    expect(variables).not.toHaveProperty("CLAUDE_CODE_USE_BEDROCK");
  });

  test("with the host's has the rest too, but nothing that looks like a secret", () => {
    const more = variablesOf({ isolation: { includeHostEnv: true } });
    const fewer = variablesOf();
    expect(Object.keys(more).filter((name) => !(name in fewer))).toEqual(["EDITOR"]);
  });

  test("has what was given over all else, and the adapter's over the isolation's", () => {
    const isolation = { env: { TERM: "vt100", A: "isolation", B: "isolation" } };
    expect(variablesOf({ isolation, env: { B: "adapter" } })).toMatchObject({
      TERM: "vt100",
      A: "isolation",
      B: "adapter",
    });
  });

  test("sends requests where the config, a given variable or this process says", () => {
    const env = { ANTHROPIC_BASE_URL: "http://given" };
    const addressOf = (sources: Partial<EnvironmentSources>) =>
      variablesOf(sources)["ANTHROPIC_BASE_URL"];
    expect(addressOf({ isolation: { baseURL: "http://config" }, env })).toBe("http://config");
    expect(addressOf({ env })).toBe("http://given");
    expect(addressOf({})).toBe("https://gateway.example.com");
    expect(addressOf({ host: { ANTHROPIC_API_KEY: "k" } })).toBeUndefined();
  });

  test("is made from this process's own if no other is given", () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "from-this-process");
    vi.stubEnv("TZ", "Asia/Tokyo");
    vi.stubEnv("LANG", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { variables, auth } = claudeEnvironment({
      isolation: {},
      home: "/h",
      temporary: "/t",
    });
    expect(auth.handed).toBe("from-this-process");
    expect(variables).toMatchObject({ TZ: "Asia/Tokyo" });
    expect(variables).not.toHaveProperty("LANG");
  });

  test("is not made where there are no credentials", () => {
    expect(() => variablesOf({ host: {} })).toThrow("set ANTHROPIC_API_KEY");
  });
});
