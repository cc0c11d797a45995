import { describe, expect, test } from "vitest";
import { checkIsolation } from "./check-isolation.ts";
import { type IsolationConfig, noNetwork, withDomains } from "./isolation.ts";

const SECRET = "sk-ant-not-to-be-shown";

/** Returns the error that a config of any type causes, or "nothing". */
function catchError(config: unknown): string {
  try {
    checkIsolation(config as IsolationConfig);
  } catch (error) {
    return String(error);
  }
  return "nothing";
}

describe("checkIsolation()", () => {
  test("returns a frozen copy", () => {
    const config = {
      networkPolicy: withDomains("pypi.org"),
      sandbox: { enabled: true, writablePaths: ["/opt/out"], excludedCommands: ["docker *"] },
      env: { CI: "1" },
      apiKey: SECRET,
      baseURL: "http://127.0.0.1:8080",
      includeHostEnv: false,
      inheritAuth: true,
    };
    const checked = checkIsolation(config);
    expect(checked).toEqual(config);
    expect(checked).not.toBe(config);
    expect(checked.sandbox).toSatisfy(Object.isFrozen);
    expect(checkIsolation({})).toEqual({});
  });

  test("accepts the policies of noNetwork() and withDomains(), which rejects invalid hosts", () => {
    expect(noNetwork()).toEqual({ type: "disabled" });
    expect(withDomains("pypi.org", "cdc.gov")).toEqual({
      type: "allowlist",
      allowedDomains: ["pypi.org", "cdc.gov"],
    });
    expect(() => withDomains("https://pypi.org/simple")).toThrow('Use "pypi.org"');
    expect(() => withDomains()).toThrow("networkPolicy.allowedDomains.length must be");
  });

  test("rejects unknown options", () => {
    expect(catchError({ network: "none" })).toContain(
      'isolation key must be one of "networkPolicy"',
    );
    expect(catchError({ sandbox: { enable: true } })).toContain('Did you mean "enabled"?');
    expect(catchError([])).toContain("isolation must be a plain object");
  });

  test("rejects domainSecrets", () => {
    const domainSecrets = [{ domain: "pypi.org", name: "TOKEN", value: SECRET }];
    const networkPolicy = { type: "allowlist", allowedDomains: ["pypi.org"], domainSecrets };
    const error = catchError({ networkPolicy });
    expect(error).toContain("isolation.networkPolicy.domainSecrets must be omitted on Claude");
    expect(error).not.toContain(SECRET);
  });

  test.each(["data", "~/data", "/data/*", "/data (old)", "", 7])("rejects the path %j", (path) => {
    const error = catchError({ sandbox: { readablePaths: [path] } });
    expect(error).toContain("isolation.sandbox.readablePaths[0] must be an absolute path without");
    expect(catchError({ sandbox: { writablePaths: [path] } })).toContain("writablePaths[0]");
  });

  test.each([`${SECRET}\n`, ` ${SECRET}`, "", 7])(
    "rejects the key %j and does not quote it",
    (key) => {
      const error = catchError({ apiKey: key });
      expect(error).toContain(
        "isolation.apiKey must consist of printable ASCII characters without spaces",
      );
      expect(error).not.toContain(SECRET);
    },
  );

  test("rejects an invalid baseURL and does not quote its password", () => {
    expect(catchError({ baseURL: "127.0.0.1:8080" })).toContain(
      'isolation.baseURL must be an http: or https: URL without a user name and password, got "127',
    );
    const error = catchError({ baseURL: `https://me:${SECRET}@example.com` });
    expect(error).toContain("isolation.baseURL must be an http: or https: URL");
    expect(error).not.toContain(SECRET);
  });

  test("rejects invalid environment variables and does not quote their values", () => {
    expect(catchError({ env: { "MY VARIABLE": "1" } })).toContain(
      "isolation.env key must consist of",
    );
    for (const value of [7, `${SECRET}\0`]) {
      const error = catchError({ env: { MINE: value } });
      expect(error).toContain("isolation.env.MINE must be a string without NUL characters");
      expect(error).not.toContain(SECRET);
    }
    expect(catchError({ env: SECRET })).toBe(
      "PromptValidationError: isolation.env must be a plain object, got a secret (not shown). Use { … }.",
    );
  });
});
