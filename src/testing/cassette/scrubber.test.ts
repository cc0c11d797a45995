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

  test("removes secrets in JSON inside strings, and where they are repeated", () => {
    const scrubber = new Scrubber();
    const output = JSON.stringify({ api_key: "hunter2hunter2", total: 3 });
    const nested = JSON.stringify({
      result: JSON.stringify({ note: 'say "hi"', passphrase: 'quo"ted\\pass' }),
    });
    const input = [
      { type: "function_call_output", output },
      { type: "function_call", arguments: nested },
      { type: "message", content: 'hunter2hunter2 and quo"ted\\pass' },
    ];
    const clean = JSON.stringify(scrubber.cleanJson({ input }));
    expect(clean).not.toContain("hunter2");
    expect(clean).not.toContain("ted");
    expect(clean).toContain("total");
    expect(clean).toContain("say ");
    expect(JSON.parse(clean).input[2].content).toBe("<secret> and <secret>");
    const answer = encode(
      JSON.stringify({ text: JSON.stringify({ a: 'quo"ted\\pass' }), b: "pass" }),
    );
    const bytes = scrubber.cleanBytes(answer, "application/json");
    expect(bytes).toHaveLength(answer.length);
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({
      text: expect.stringMatching(/^\{"a":"<secret\**>"\}$/),
      b: "pass",
    });
  });

  test.each([
    "token",
    "secret_key",
    "openai_api_key",
    "apiKey",
    "passphrase",
    "AWS_SECRET_ACCESS_KEY",
    "access_token",
    "db-password",
    "GITHUB_TOKEN",
  ])("removes the field %s from requests, responses and forms", (field) => {
    const scrubber = new Scrubber();
    expect(scrubber.cleanJson({ [field]: "v4lue-of-it" })).toEqual({ [field]: "<secret>" });
    expect(scrubber.cleanText("v4lue-of-it")).toBe("<secret>");
    const answer = JSON.stringify({ [field]: "another-v4lue", short: 1 });
    const clean = Buffer.from(new Scrubber().cleanBytes(encode(answer))).toString();
    expect(JSON.parse(clean)).toEqual({ [field]: "<secret*****>", short: 1 });
    expect(
      JSON.parse(
        Buffer.from(scrubber.cleanBytes(encode(JSON.stringify({ [field]: "pw" })))).toString(),
      ),
    ).toEqual({ [field]: "**" });
    expect(scrubber.cleanField(field, "form-v4lue")).toBe("<secret>");
    expect(scrubber.cleanText("form-v4lue")).toBe("<secret>");
  });

  test.each([
    "total_tokens",
    "max_output_tokens",
    "input_tokens",
    "next_page_token",
    "key",
    "prompt_cache_key",
    "tokenizer",
  ])("keeps the field %s", (field) => {
    const scrubber = new Scrubber();
    const text = JSON.stringify({ [field]: "value-1234" });
    expect(scrubber.cleanText(text)).toBe(text);
    expect(Buffer.from(scrubber.cleanBytes(encode(text))).toString()).toBe(text);
    expect(scrubber.cleanJson({ [field]: "value-1234" })).toEqual({ [field]: "value-1234" });
  });

  test("keeps the tokens of log probabilities", () => {
    const value = { logprobs: [{ token: "Elephants", logprob: -0.1 }] };
    const text = JSON.stringify(value);
    expect(new Scrubber().cleanJson(value)).toEqual(value);
    expect(Buffer.from(new Scrubber().cleanBytes(encode(text))).toString()).toBe(text);
  });

  test("removes credentials in URL-encoded forms and in the queries of redirects", () => {
    const scrubber = new Scrubber();
    const form = encode("grant_type=x&client_secret=pl%2Bain-secret&scope=a");
    const clean = Buffer.from(scrubber.cleanBytes(form, "application/x-www-form-urlencoded"));
    expect(clean.toString()).toMatch(/^grant_type=x&client_secret=<secret\**>&scope=a$/);
    expect(scrubber.cleanText("pl+ain-secret")).toBe("<secret>");
    expect(scrubber.cleanUrl("https://h/a?id=1&sig=abc#part")).toBe(
      "https://h/a?id=1&sig=<secret>#part",
    );
  });

  test("removes a header's secret that a response repeats JSON-escaped", () => {
    const scrubber = new Scrubber();
    scrubber.learn(new Headers({ "x-api-key": 'quo"ted\\key-1' }));
    const answer = encode(JSON.stringify({ echoed: 'quo"ted\\key-1' }));
    const clean = Buffer.from(scrubber.cleanBytes(answer)).toString();
    expect(JSON.parse(clean).echoed).toMatch(/^<secret\**>$/);
  });

  test("removes keys after an escaped line break", () => {
    const text = JSON.stringify({ text: "Your key:\nsk-proj-abcdefghijklmnop_1234" });
    const clean = Buffer.from(new Scrubber().cleanBytes(encode(text))).toString();
    expect(clean).not.toContain("abcdefgh");
  });

  test("finds the values of fields in long texts in linear time", () => {
    const scrubber = new Scrubber();
    for (const text of ['"token":"'.repeat(30_000), "\\".repeat(300_000), '"a\\'.repeat(100_000)])
      expect(scrubber.cleanBytes(encode(text))).toHaveLength(text.length);
  });
});
