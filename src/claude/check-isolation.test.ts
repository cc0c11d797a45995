import { describe, expect, test } from "vitest";
import { checkIsolation } from "./check-isolation.ts";
import { type IsolationConfig, noNetwork, withDomains } from "./isolation.ts";

const SECRET = "sk-ant-not-to-be-shown";

/** What a config is refused with; it may be anything that is not typed. */
function refusal(config: unknown): string {
  try {
    checkIsolation(config as IsolationConfig);
  } catch (error) {
    return String(error);
  }
  return "nothing";
}

describe("an isolation config", () => {
  test("is copied and frozen as it was given", () => {
    const given = {
      networkPolicy: withDomains("pypi.org"),
      sandbox: { enabled: true, writablePaths: ["/opt/out"], excludedCommands: ["docker *"] },
      env: { CI: "1" },
      apiKey: SECRET,
      baseURL: "http://127.0.0.1:8080",
      includeHostEnv: false,
      inheritAuth: true,
    };
    const checked = checkIsolation(given);
    expect(checked).toEqual(given);
    expect(checked).not.toBe(given);
    expect(checked.sandbox).toSatisfy(Object.isFrozen);
    expect(checkIsolation({})).toEqual({});
  });

  test("may name hosts that commands reach, or none", () => {
    expect(noNetwork()).toEqual({ type: "disabled" });
    expect(withDomains("pypi.org", "cdc.gov")).toEqual({
      type: "allowlist",
      allowedDomains: ["pypi.org", "cdc.gov"],
    });
    expect(() => withDomains("https://pypi.org/simple")).toThrow('write "pypi.org"');
    expect(() => withDomains()).toThrow("networkPolicy.allowedDomains.length must be");
  });

  test("has no option that nobody knows", () => {
    expect(refusal({ network: "none" })).toContain('isolation key must be one of "networkPolicy"');
    expect(refusal({ sandbox: { enable: true } })).toContain('did you mean "enabled"?');
    expect(refusal([])).toContain("isolation must be a plain object");
  });

  test("puts no secrets into the requests of commands", () => {
    const domainSecrets = [{ domain: "pypi.org", name: "TOKEN", value: SECRET }];
    const networkPolicy = { type: "allowlist", allowedDomains: ["pypi.org"], domainSecrets };
    const said = refusal({ networkPolicy });
    expect(said).toContain("isolation.networkPolicy.domainSecrets must be left out");
    expect(said).not.toContain(SECRET);
  });

  test.each(["data", "~/data", "/data/*", "/data (old)", "", 7])("refuses the path %j", (path) => {
    const said = refusal({ sandbox: { readablePaths: [path] } });
    expect(said).toContain("isolation.sandbox.readablePaths[0] must be an absolute path without");
    expect(refusal({ sandbox: { writablePaths: [path] } })).toContain("writablePaths[0]");
  });

  test.each([`${SECRET}\n`, ` ${SECRET}`, "", 7])(
    "refuses the key %j and does not quote it",
    (key) => {
      const said = refusal({ apiKey: key });
      expect(said).toContain("isolation.apiKey must be one word of ASCII");
      expect(said).not.toContain(SECRET);
    },
  );

  test("refuses an address that is none, and quotes no password", () => {
    expect(refusal({ baseURL: "127.0.0.1:8080" })).toContain(
      'isolation.baseURL must be an http: or https: address without user and password, got "127',
    );
    const said = refusal({ baseURL: `https://me:${SECRET}@example.com` });
    expect(said).toContain("isolation.baseURL must be an http: or https: address");
    expect(said).not.toContain(SECRET);
  });

  test("refuses variables that no environment can hold, and quotes no value", () => {
    expect(refusal({ env: { "MY VARIABLE": "1" } })).toContain("isolation.env key must be a name");
    for (const value of [7, `${SECRET}\0`]) {
      const said = refusal({ env: { MINE: value } });
      expect(said).toContain("isolation.env.MINE must be a text without a NUL");
      expect(said).not.toContain(SECRET);
    }
    expect(refusal({ env: SECRET })).toBe(
      "PromptValidationError: isolation.env must be a plain object, got a secret that is not. Write { … }",
    );
  });
});
