import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { codeInterpreterTool } from "./hosted/code-interpreter.ts";
import { shellTool } from "./hosted/shell.ts";
import { webSearchTool } from "./hosted/web-search.ts";
import { renameConfigError } from "./rename-config-error.ts";

function catchConfigError(make: () => unknown, options?: string): PromptValidationError {
  try {
    renameConfigError({ config: "Mine $& config", options }, make);
  } catch (error) {
    if (error instanceof PromptValidationError) return error;
    throw error;
  }
  throw new Error("it was made");
}

describe("renameConfigError()", () => {
  test("replaces the factory's name for the config and leaves the rest of the message unchanged", () => {
    const make = () => webSearchTool({ geoHint: { countryCode: "UK" } });
    const refusal = catchConfigError(make);
    expect(refusal).toMatchObject({ field: "Mine $& config.geoHint.countryCode", value: "UK" });
    expect(make).toThrow(refusal.message.replace("Mine $& config", "webSearchTool(config)"));
    expect(refusal.stack).toContain(
      "Mine $& config.geoHint.countryCode must be an ISO 3166-1 alpha-2 country code",
    );
  });

  test("replaces the factory's prefix for options if one is passed", () => {
    const make = () => shellTool({ environment: { type: "local" } });
    expect(catchConfigError(make, "Mine ").field).toBe("Mine executor");
    expect(catchConfigError(make).field).toBe("shellTool(options).executor");
    expect(catchConfigError(make, "Mine ").message).toBe(
      "Mine executor must be a ShellExecutor in a local environment, got undefined. " +
        "Pass an object with run(commands, options), or use a container environment.",
    );
  });

  test("does not reveal a secret", () => {
    const secret = { domain: "example.com", name: "KEY", value: 12345 };
    const networkPolicy = {
      type: "allowlist",
      allowedDomains: ["example.com"],
      domainSecrets: [secret],
    };
    const refusal = catchConfigError(() =>
      codeInterpreterTool({ container: { type: "auto", networkPolicy } } as never),
    );
    expect(refusal.field).toMatch(/^Mine \$& config\.container\.networkPolicy\.domainSecrets\[0]/);
    expect(refusal.message).toMatch(
      /must be a non-empty string, got a secret \(not shown\)\. Pass the secret\.$/,
    );
    expect(refusal.value).toBeUndefined();
  });

  test("does not change a rule or remedy that looks like the quoted value", () => {
    const rule = "must be, got null. Not";
    const refusal = catchConfigError(() => {
      throw new PromptValidationError({ field: "x(config).y", value: null, rule, remedy: "no" });
    });
    expect(refusal.message).toBe("Mine $& config.y must be, got null. Not, got null. No.");
  });
});

test("renameConfigError() passes other errors through", () => {
  const error = new TypeError("no");
  const throwError = () => {
    throw error;
  };
  expect(() => renameConfigError({ config: "Mine" }, throwError)).toThrow(error);
  expect(renameConfigError({ config: "Mine" }, () => 1)).toBe(1);
});
