import { inspect } from "node:util";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { redactText } from "../base/redact.ts";
import { HttpClient } from "./http/http-client.ts";
import { findCredentials, readSecrets } from "./secrets.ts";

const key = "sk-test-0123456789abcdef";

describe("secrets of clients", () => {
  test("findCredentials() finds whole values and their parts by the header's name", () => {
    const headers = {
      authorization: "Bearer abcdefgh-1",
      cookie: "session=abcdefgh-2; theme=dark-mode",
      "api-key": "abcdefgh-3",
      "x-amz-security-token": "abcdefgh-4",
      "x-trace": "abcdefgh-5",
      "openai-organization": "abcdefgh-6",
    };
    const secrets = findCredentials(headers);
    const text = Object.values(headers).join(" ");
    expect(redactText("abcdefgh-1 abcdefgh-2 abcdefgh-3 abcdefgh-4", secrets)).toBe(
      "<redacted> <redacted> <redacted> <redacted>",
    );
    expect(redactText(text, secrets)).toContain("abcdefgh-5 abcdefgh-6");
  });

  test("include the built-in client's key, credential headers and query values", () => {
    const client = new HttpClient({
      apiKey: key,
      headers: { "x-secret": "abcdefgh-1" },
      query: { "subscription-key": "abcdefgh-2", "api-version": "2026-01-01" },
    });
    const secrets = readSecrets(client);
    expect(secrets).toEqual(expect.arrayContaining([key, "abcdefgh-1", "abcdefgh-2"]));
    expect(secrets).not.toContain("2026-01-01");
  });

  test("include the official client's key", () => {
    expect(readSecrets(new OpenAI({ apiKey: key }))).toEqual([key]);
    expect(readSecrets({})).toEqual([]);
    expect(readSecrets({ apiKey: () => key })).toEqual([]);
  });

  test("are not printed when the built-in client is inspected or serialized", () => {
    const client = new HttpClient({ apiKey: key, headers: { "x-secret": "abcdefgh-1" } });
    const printed = [
      inspect(client, { depth: 9, showHidden: true, getters: true }),
      JSON.stringify(client),
      String(client),
      JSON.stringify(Object.getOwnPropertyDescriptors(client)),
    ];
    for (const text of printed) {
      expect(text).not.toContain(key);
      expect(text).not.toContain("abcdefgh-1");
    }
  });
});
