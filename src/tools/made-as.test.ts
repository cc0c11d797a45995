import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { codeInterpreterTool } from "./hosted/code-interpreter.ts";
import { shellTool } from "./hosted/shell.ts";
import { webSearchTool } from "./hosted/web-search.ts";
import { madeAs } from "./made-as.ts";

function refusalOf(make: () => unknown, options?: string): PromptValidationError {
  try {
    madeAs({ config: "Mine $& config", options }, make);
  } catch (error) {
    if (error instanceof PromptValidationError) return error;
    throw error;
  }
  throw new Error("it was made");
}

describe("what a factory refuses", () => {
  test("is named as the caller gave it, and says the rest as before", () => {
    const make = () => webSearchTool({ geoHint: { countryCode: "UK" } });
    const refusal = refusalOf(make);
    expect(refusal).toMatchObject({ field: "Mine $& config.geoHint.countryCode", value: "UK" });
    expect(make).toThrow(refusal.message.replace("Mine $& config", "webSearchTool(config)"));
    expect(refusal.stack).toContain("Mine $& config.geoHint.countryCode must be a country code");
  });

  test("is named so for options too, where these have another name", () => {
    const make = () => shellTool({ environment: { type: "local" } });
    expect(refusalOf(make, "Mine ").field).toBe("Mine executor");
    expect(refusalOf(make).field).toBe("shellTool(options).executor");
    expect(refusalOf(make, "Mine ").message).toBe(
      "Mine executor must be a ShellExecutor in a local environment, got undefined: " +
        "give an object with run(commands, options), or let a container run them",
    );
  });

  test("does not tell a secret", () => {
    const secret = { domain: "example.com", name: "KEY", value: 12345 };
    const networkPolicy = {
      type: "allowlist",
      allowedDomains: ["example.com"],
      domainSecrets: [secret],
    };
    const refusal = refusalOf(() =>
      codeInterpreterTool({ container: { type: "auto", networkPolicy } } as never),
    );
    expect(refusal.field).toMatch(/^Mine \$& config\.container\.networkPolicy\.domainSecrets\[0]/);
    expect(refusal.message).toMatch(/not empty, got a secret that is not. Give the secret$/);
    expect(refusal.value).toBeUndefined();
  });

  test("keeps the words of a rule or a remedy that quote the value", () => {
    const rule = "must be, got null. Not";
    const refusal = refusalOf(() => {
      throw new PromptValidationError({ field: "x(config).y", value: null, rule, remedy: "no" });
    });
    expect(refusal.message).toBe("Mine $& config.y must be, got null. Not, got null. No");
  });
});

test("what else goes wrong is passed on", () => {
  const error = new TypeError("no");
  const fail = () => {
    throw error;
  };
  expect(() => madeAs({ config: "Mine" }, fail)).toThrow(error);
  expect(madeAs({ config: "Mine" }, () => 1)).toBe(1);
});
