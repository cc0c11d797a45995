import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { type OpenAIClientConfig, resolveClientSettings } from "./client-config.ts";

const key = "sk-test-0123456789abcdef";
const variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"];

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function catchError(config: unknown): InvalidOptionError {
  try {
    resolveClientSettings(config as OpenAIClientConfig);
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
  throw new Error("The config was accepted");
}

describe("resolveClientSettings()", () => {
  test("defaults to OpenAI's address, 10 minutes and 256 MiB", () => {
    expect(resolveClientSettings({})).toEqual({
      baseURL: "https://api.openai.com/v1",
      query: "",
      headers: {},
      timeoutMs: 600_000,
      maxResponseBytes: 268_435_456,
      fetch: undefined,
      isKeyMissing: true,
      secrets: [],
    });
  });

  test("reads the environment and trims line breaks", () => {
    vi.stubEnv("OPENAI_API_KEY", `${key}\n`);
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/");
    vi.stubEnv("OPENAI_ORG_ID", "org-1");
    vi.stubEnv("OPENAI_PROJECT_ID", "proj-1");
    expect(resolveClientSettings({})).toMatchObject({
      baseURL: "http://127.0.0.1:1/v1",
      headers: {
        authorization: `Bearer ${key}`,
        "openai-organization": "org-1",
        "openai-project": "proj-1",
      },
      isKeyMissing: false,
      secrets: [key],
    });
  });

  test("ignores empty variables and prefers the config", () => {
    vi.stubEnv("OPENAI_API_KEY", " ");
    vi.stubEnv("OPENAI_ORG_ID", "org-1");
    expect(resolveClientSettings({ organization: "org-2" }).headers).toEqual({
      "openai-organization": "org-2",
    });
  });

  test("works in a runtime without process", () => {
    vi.stubGlobal("process", undefined);
    const { headers } = resolveClientSettings({});
    vi.unstubAllGlobals();
    expect(headers).toEqual({});
  });

  test("names the invalid environment variable", () => {
    vi.stubEnv("OPENAI_API_KEY", `${key} ${key}`);
    expect(catchError({}).message).toBe(
      "OPENAI_API_KEY must be printable ASCII characters without spaces, got a secret (not shown). Copy the key exactly as the provider shows it.",
    );
    vi.stubEnv("OPENAI_API_KEY", key);
    vi.stubEnv("OPENAI_BASE_URL", "api.openai.com/v1");
    expect(catchError({}).message).toBe(
      'OPENAI_BASE_URL must be an http: or https: URL, got "api.openai.com/v1". Use a URL like "https://api.openai.com/v1".',
    );
  });
});

describe("clientConfig.apiKey", () => {
  test.each([
    ["is empty", ""],
    ["has a line break", `${key}\r\nx-evil: 1`],
    ["has a space", `${key} `],
    ["has a character that headers do not allow", `${key}ł`],
    ["is not a string", 12],
  ])("is rejected and not quoted if it %s", (_, apiKey) => {
    const error = catchError({ apiKey });
    expect(error.field).toBe("clientConfig.apiKey");
    expect(error.value).toBeUndefined();
    expect(error.message).not.toContain("0123456789");
  });

  test("is required only for requests to OpenAI over the network", () => {
    const isKeyMissing = (config: OpenAIClientConfig) => resolveClientSettings(config).isKeyMissing;
    expect(isKeyMissing({})).toBe(true);
    expect(isKeyMissing({ baseURL: "https://api.openai.com/v2" })).toBe(true);
    expect(isKeyMissing({ apiKey: key })).toBe(false);
    expect(isKeyMissing({ fetch })).toBe(false);
    expect(isKeyMissing({ baseURL: "http://127.0.0.1:1" })).toBe(false);
    expect(isKeyMissing({ headers: { Authorization: `Bearer ${key}` } })).toBe(false);
  });

  test("is not read from the environment if a header is the credential, as on Azure", () => {
    vi.stubEnv("OPENAI_API_KEY", key);
    const { headers } = resolveClientSettings({ headers: { "API-Key": "azure-0123456789" } });
    expect(headers).toEqual({ "api-key": "azure-0123456789" });
  });

  test("cannot be combined with an authorization header", () => {
    const error = catchError({ apiKey: key, headers: { Authorization: `Bearer ${key}` } });
    expect(error.message).toBe(
      "clientConfig.headers.authorization must be omitted when apiKey is set, got a secret (not shown). Set either apiKey or the header.",
    );
  });
});

describe("clientConfig.headers", () => {
  test("override the client's headers, ignoring case", () => {
    const { headers } = resolveClientSettings({
      organization: "org-1",
      headers: { "OpenAI-Organization": "org-2", "X-Trace": "1" },
    });
    expect(headers).toEqual({ "openai-organization": "org-2", "x-trace": "1" });
  });

  test.each(["Content-Length", "host", "Transfer-Encoding", "content-type", "connection"])(
    "rejects the header %s",
    (name) => {
      expect(catchError({ headers: { [name]: "1" } }).message).toBe(
        `clientConfig.headers key must not be a header that the connection or the body sets, got "${name}". Remove it.`,
      );
    },
  );

  test.each([
    ["an empty value", { "x-a": "" }],
    ["a line break", { "x-a": `${key}\nb` }],
    ["spaces around it", { "x-a": `${key} ` }],
    ["a value that is not a string", { "x-a": 1 }],
  ])("rejects %s without quoting it", (_, headers) => {
    const { message } = catchError({ headers });
    expect(message).toBe(
      "clientConfig.headers.x-a must be one non-empty line of Latin-1 text, got a secret (not shown). Remove line breaks and surrounding spaces.",
    );
  });

  test("accepts values of one character or several words", () => {
    const headers = { "x-a": "1", "x-b": "one two", "x-c": "é" };
    expect(resolveClientSettings({ headers }).headers).toEqual(headers);
  });

  test("rejects a header line as name", () => {
    expect(catchError({ headers: { [`authorization: ${key}`]: "x" } }).message).toBe(
      'clientConfig.headers key must be an HTTP header name, got a secret (not shown). Use an object like { "x-name": "value" }.',
    );
  });

  test("must be an object", () => {
    expect(catchError({ headers: [key] }).message).toBe(
      "clientConfig.headers must be a plain object, got a secret (not shown). Use { … }.",
    );
  });
});

describe("clientConfig.baseURL", () => {
  test("may end in slashes", () => {
    expect(resolveClientSettings({ baseURL: "http://127.0.0.1:8080/v1//" }).baseURL).toBe(
      "http://127.0.0.1:8080/v1",
    );
  });

  test.each([
    ["ftp://x/v1", "must be an http: or https: URL", '"ftp://x/v1"'],
    ["https://", "must be an http: or https: URL", '"https://"'],
    ["https://a b/v1", "must be an http: or https: URL", '"https://a b/v1"'],
    ["https://x/v1#a", "must not contain ? or #", '"https://x/v1#a"'],
    ["https://x/v1?code=1", "must not contain ? or #", "a secret (not shown)"],
    ["https://u:p@x/v1", "must not contain a user or password", "a secret (not shown)"],
    [7, "must be an http: or https: URL", "7"],
  ])("rejects %j", (baseURL, rule, shown) => {
    expect(catchError({ baseURL }).message).toContain(
      `clientConfig.baseURL ${rule}, got ${shown}. `,
    );
  });

  test("is followed by the encoded query", () => {
    const { query } = resolveClientSettings({ query: { "api-version": "2026-01-01&x=y" } });
    expect(query).toBe("?api-version=2026-01-01%26x%3Dy");
  });

  test("is not combined with a query of numbers", () => {
    expect(catchError({ query: { a: 1 } }).message).toBe(
      "clientConfig.query.a must be a string, got a secret (not shown). Pass numbers as strings.",
    );
  });
});

describe("clientConfig", () => {
  test("suggests the option for an unknown key, without quoting the value", () => {
    const { message } = catchError({ apikey: key });
    expect(message).toBe(
      'clientConfig key must be a known option, got "apikey". Did you mean "apiKey"?',
    );
    expect(message).not.toContain(key);
  });

  test.each([
    [{ timeoutMs: 0 }, "clientConfig.timeoutMs must be an integer from 1 to 2147483647"],
    [{ timeoutMs: 2 ** 31 }, "clientConfig.timeoutMs must be an integer from 1 to 2147483647"],
    [{ maxResponseBytes: 1.5 }, "clientConfig.maxResponseBytes must be an integer of at least"],
    [{ fetch: "fetch" }, "clientConfig.fetch must be a function"],
    [{ organization: "" }, "clientConfig.organization must be one non-empty line of Latin-1 text"],
  ])("rejects the options %j", (config, message) => {
    expect(catchError(config).message).toContain(message);
  });

  test("must be an object, and is not quoted if it is not", () => {
    expect(catchError(key).message).toBe(
      "clientConfig must be a plain object, got a secret (not shown). Use { … }.",
    );
  });
});
