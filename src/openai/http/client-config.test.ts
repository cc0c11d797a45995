import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { clientSettings, type OpenAIClientConfig } from "./client-config.ts";

const key = "sk-test-0123456789abcdef";
const variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"];

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function refused(config: unknown): InvalidOptionError {
  try {
    clientSettings(config as OpenAIClientConfig);
  } catch (error) {
    if (error instanceof InvalidOptionError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("what is left out", () => {
  test("has OpenAI's address, ten minutes and 256 MiB for its defaults", () => {
    expect(clientSettings({})).toEqual({
      baseURL: "https://api.openai.com/v1",
      query: "",
      headers: {},
      timeoutMs: 600_000,
      maxResponseBytes: 268_435_456,
      fetch: undefined,
      lacksKey: true,
      secrets: [],
    });
  });

  test("is read from the environment, without the line break a file ends in", () => {
    vi.stubEnv("OPENAI_API_KEY", `${key}\n`);
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/");
    vi.stubEnv("OPENAI_ORG_ID", "org-1");
    vi.stubEnv("OPENAI_PROJECT_ID", "proj-1");
    expect(clientSettings({})).toMatchObject({
      baseURL: "http://127.0.0.1:1/v1",
      headers: {
        authorization: `Bearer ${key}`,
        "openai-organization": "org-1",
        "openai-project": "proj-1",
      },
      lacksKey: false,
      secrets: [key],
    });
  });

  test("is not read where it is empty, and not where it is given", () => {
    vi.stubEnv("OPENAI_API_KEY", " ");
    vi.stubEnv("OPENAI_ORG_ID", "org-1");
    expect(clientSettings({ organization: "org-2" }).headers).toEqual({
      "openai-organization": "org-2",
    });
  });

  test("may be left out by a runtime that has no process", () => {
    vi.stubGlobal("process", undefined);
    const { headers } = clientSettings({});
    vi.unstubAllGlobals();
    expect(headers).toEqual({});
  });

  test("is refused by the variable's name if it cannot be", () => {
    vi.stubEnv("OPENAI_API_KEY", `${key} ${key}`);
    expect(refused({}).message).toBe(
      "OPENAI_API_KEY must be one line of letters, digits and signs without spaces, got a secret that is not. Give the key as the provider shows it",
    );
    vi.stubEnv("OPENAI_API_KEY", key);
    vi.stubEnv("OPENAI_BASE_URL", "api.openai.com/v1");
    expect(refused({}).message).toBe(
      'OPENAI_BASE_URL must be an http: or https: address, got "api.openai.com/v1". Write one like "https://api.openai.com/v1"',
    );
  });
});

describe("a key", () => {
  test.each([
    ["is empty", ""],
    ["has a line break", `${key}\r\nx-evil: 1`],
    ["has a space", `${key} `],
    ["has a letter that no header takes", `${key}ł`],
    ["is no text", 12],
  ])("that %s is refused and not quoted", (_, apiKey) => {
    const error = refused({ apiKey });
    expect(error.field).toBe("clientConfig.apiKey");
    expect(error.value).toBeUndefined();
    expect(error.message).not.toContain("0123456789");
  });

  test("is missing only where OpenAI itself would be asked over the network", () => {
    const lacks = (config: OpenAIClientConfig) => clientSettings(config).lacksKey;
    expect(lacks({})).toBe(true);
    expect(lacks({ baseURL: "https://api.openai.com/v2" })).toBe(true);
    expect(lacks({ apiKey: key })).toBe(false);
    expect(lacks({ fetch })).toBe(false);
    expect(lacks({ baseURL: "http://127.0.0.1:1" })).toBe(false);
    expect(lacks({ headers: { Authorization: `Bearer ${key}` } })).toBe(false);
  });

  test("of the environment stays at home where a header is the credential, as on Azure", () => {
    vi.stubEnv("OPENAI_API_KEY", key);
    const { headers } = clientSettings({ headers: { "API-Key": "azure-0123456789" } });
    expect(headers).toEqual({ "api-key": "azure-0123456789" });
  });

  test("and an authorization header are one too many", () => {
    const error = refused({ apiKey: key, headers: { Authorization: `Bearer ${key}` } });
    expect(error.message).toBe(
      "clientConfig.headers.authorization must be left out where apiKey is given, got a secret that is not. Give one of the two",
    );
  });
});

describe("headers", () => {
  test("win over ours, whatever their letters' case", () => {
    const { headers } = clientSettings({
      organization: "org-1",
      headers: { "OpenAI-Organization": "org-2", "X-Trace": "1" },
    });
    expect(headers).toEqual({ "openai-organization": "org-2", "x-trace": "1" });
  });

  test.each(["Content-Length", "host", "Transfer-Encoding", "content-type", "connection"])(
    "may not be %s",
    (name) => {
      expect(refused({ headers: { [name]: "1" } }).message).toBe(
        `clientConfig.headers key must not be one that the connection or the body decides, got "${name}". Leave it out`,
      );
    },
  );

  test.each([
    ["an empty value", { "x-a": "" }],
    ["a line break", { "x-a": `${key}\nb` }],
    ["spaces around it", { "x-a": `${key} ` }],
    ["no text", { "x-a": 1 }],
  ])("may not have %s, and that is not quoted", (_, headers) => {
    const { message } = refused({ headers });
    expect(message).toBe(
      "clientConfig.headers.x-a must be one line of Latin text that is not blank, got a secret that is not. Write it without line breaks, and without spaces around it",
    );
  });

  test("may have a value of one letter, or of several words", () => {
    const headers = { "x-a": "1", "x-b": "one two", "x-c": "é" };
    expect(clientSettings({ headers }).headers).toEqual(headers);
  });

  test("are named by names alone", () => {
    expect(refused({ headers: { [`authorization: ${key}`]: "x" } }).message).toBe(
      'clientConfig.headers key must be the name of an HTTP header, got a secret that is not. Write { "x-name": "its value" }',
    );
  });

  test("are an object", () => {
    expect(refused({ headers: [key] }).message).toBe(
      "clientConfig.headers must be a plain object, got a secret that is not. Write { … }",
    );
  });
});

describe("an address", () => {
  test("may end in slashes", () => {
    expect(clientSettings({ baseURL: "http://127.0.0.1:8080/v1//" }).baseURL).toBe(
      "http://127.0.0.1:8080/v1",
    );
  });

  test.each([
    ["ftp://x/v1", "must be an http: or https: address", '"ftp://x/v1"'],
    ["https://", "must be an http: or https: address", '"https://"'],
    ["https://a b/v1", "must be an http: or https: address", '"https://a b/v1"'],
    ["https://x/v1#a", "must be without ? and #", '"https://x/v1#a"'],
    ["https://x/v1?code=1", "must be without ? and #", "a secret that is not"],
    ["https://u:p@x/v1", "must be without user and password", "a secret that is not"],
    [7, "must be an http: or https: address", "7"],
  ])("%j is refused", (baseURL, rule, shown) => {
    expect(refused({ baseURL }).message).toContain(`clientConfig.baseURL ${rule}, got ${shown}: `);
  });

  test("gets a query, encoded", () => {
    const { query } = clientSettings({ query: { "api-version": "2026-01-01&x=y" } });
    expect(query).toBe("?api-version=2026-01-01%26x%3Dy");
  });

  test("gets no query of numbers", () => {
    expect(refused({ query: { a: 1 } }).message).toBe(
      "clientConfig.query.a must be a text, got a secret that is not. Write numbers as texts as well",
    );
  });
});

describe("an option", () => {
  test("that does not exist is refused with the one that was meant, and its value is not quoted", () => {
    const { message } = refused({ apikey: key });
    expect(message).toMatch(
      /^clientConfig key must be one of "apiKey", .*, got "apikey". Did you mean "apiKey"\?$/,
    );
    expect(message).not.toContain(key);
  });

  test.each([
    [{ timeoutMs: 0 }, "clientConfig.timeoutMs must be an integer from 1 to 2147483647"],
    [{ timeoutMs: 2 ** 31 }, "clientConfig.timeoutMs must be an integer from 1 to 2147483647"],
    [{ maxResponseBytes: 1.5 }, "clientConfig.maxResponseBytes must be an integer of at least"],
    [{ fetch: "fetch" }, "clientConfig.fetch must be a function"],
    [{ organization: "" }, "clientConfig.organization must be one line of Latin text"],
  ])("%j is refused", (config, message) => {
    expect(refused(config).message).toContain(message);
  });

  test("stands in an object, which is not quoted if it is none", () => {
    expect(refused(key).message).toBe(
      "clientConfig must be a plain object, got a secret that is not. Write { … }",
    );
  });
});
