import { describe, expect, test } from "vitest";
import { Scrubber } from "./scrubber.ts";

const encode = (text: string) => Buffer.from(text);

describe("Scrubber", () => {
  test.each([
    "sk-proj-abcdefghijklmnop_1234",
    "sk-ant-api03-abcdefghijklmnop",
    `ghp_${"a1".repeat(18)}`,
    `github_pat_${"a".repeat(22)}`,
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abcdef",
    `AIza${"b".repeat(35)}`,
    `eyJhbGciOiJIUzI1.${"c".repeat(20)}.${"d".repeat(20)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${"e".repeat(64)}\n-----END RSA PRIVATE KEY-----`,
  ])("removes %j from texts and bytes, which keep their length", (secret) => {
    const scrubber = new Scrubber();
    expect(scrubber.cleanText(`a ${secret} b`)).toBe("a <secret> b");
    const clean = scrubber.cleanBytes(encode(`ä ${secret} b`));
    expect(clean).toHaveLength(encode(`ä ${secret} b`).length);
    expect(Buffer.from(clean).toString()).toMatch(/^ä <secret\*+> b$/);
    // A replayed response has a mask, which the next request repeats.
    expect(scrubber.cleanText(Buffer.from(clean).toString())).toBe("ä <secret> b");
  });

  test("removes tokens after Bearer, and keeps sentences", () => {
    const scrubber = new Scrubber();
    expect(scrubber.cleanText(`Bearer ${"t".repeat(24)}==`)).toBe("Bearer <secret>");
    const sentence = "The bearer of bad news asks risk-averse people about task-1234.";
    expect(scrubber.cleanText(sentence)).toBe(sentence);
  });

  test("removes the credentials of headers from every text, also URL-encoded", () => {
    const scrubber = new Scrubber();
    scrubber.learn(
      new Headers({
        authorization: "Bearer plain/key=1",
        cookie: "session=monster42; b=2",
        "openai-organization": "org-acme123",
        accept: "application/json",
      }),
    );
    expect(
      scrubber.cleanText("plain/key=1 plain%2Fkey%3D1 monster42 org-acme123 application/json"),
    ).toBe("<secret> <secret> <secret> <secret> application/json");
    expect(
      String(scrubber.cleanBytes(Uint8Array.of(0xff, ...encode("plain/key=1")))),
    ).not.toContain(String(encode("plain/key=1")));
  });

  test("removes credentials in known fields of JSON and query parameters, and masks them elsewhere", () => {
    const scrubber = new Scrubber();
    const tool = {
      type: "mcp",
      authorization: "short",
      headers: { "x-team": "team-secret-1" },
      server_url: "https://mcp.example/?q=team-secret-1",
    };
    const policy = {
      domain_secrets: [{ domain: "a.example", name: "KEY", value: "value-of-key" }],
    };
    expect(
      scrubber.cleanJson({ tools: [tool], policy, text: "value-of-key", password: "pw" }),
    ).toEqual({
      tools: [
        {
          type: "mcp",
          authorization: "<secret>",
          headers: { "x-team": "<secret>" },
          server_url: "https://mcp.example/?q=<secret>",
        },
      ],
      policy: { domain_secrets: [{ domain: "a.example", name: "KEY", value: "<secret>" }] },
      text: "<secret>",
      password: "<secret>",
    });
    const schema = { properties: { headers: { type: "object" }, password: { type: "string" } } };
    expect(scrubber.cleanJson(schema)).toEqual(schema);
    expect(scrubber.cleanPath(new URL("http://h/a?api_key=12345678&b=c"))).toBe(
      "/a?api_key=%3Csecret%3E&b=c",
    );
    expect(scrubber.cleanText("12345678")).toBe("<secret>");
  });

  test("calls scrub for texts, and not for binary content", () => {
    const scrubber = new Scrubber((text) => text.replaceAll("Ada", "A."));
    expect(scrubber.cleanJson({ Ada: ["Ada"] })).toEqual({ "A.": ["A."] });
    expect(Buffer.from(scrubber.cleanBytes(encode("Ada"))).toString()).toBe("A.");
    expect(scrubber.cleanBytes(Uint8Array.of(0xff, ...encode("Ada")))).toHaveLength(4);
  });
});
