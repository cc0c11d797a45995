import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { redact, redactError, redactText } from "./redact.ts";

const key = "sk-test-0123456789abcdef";

describe("redactText()", () => {
  test("replaces every occurrence of every secret", () => {
    const text = `${key} and ${key}, then hunter2-hunter2`;
    const clean = redactText(text, [key, "hunter2-hunter2"]);
    expect(clean).toBe("<redacted> and <redacted>, then <redacted>");
  });

  test("keeps words that are too short to be a secret", () => {
    expect(redactText("a test of keys", ["a", "test", "", "of keys"])).toBe("a test of keys");
  });

  test("replaces a longer secret before a secret that is part of it", () => {
    expect(redactText("sk-12345678-tail", ["sk-12345678", "sk-12345678-tail"])).toBe("<redacted>");
  });

  test("replaces a URL-encoded secret", () => {
    expect(redactText("?code=a%2Fb%2Fc%2Fd%3D%3D", ["a/b/c/d=="])).toBe("?code=<redacted>");
  });

  test("treats special characters in a secret literally", () => {
    expect(redactText("x.........x $&$&$&$&", [".........", "$&$&$&$&"])).toBe(
      "x<redacted>x <redacted>",
    );
  });
});

describe("redact()", () => {
  test("replaces secrets at any depth, in arrays and in keys, in a copy", () => {
    const data = { a: [{ b: `x ${key}` }, 1, null], [key]: true };
    const copy = redact(data, [key]);
    expect(copy).toEqual({ a: [{ b: "x <redacted>" }, 1, null], "<redacted>": true });
    expect(data.a[0]).toEqual({ b: `x ${key}` });
  });

  test("handles 50,000 levels of nesting", () => {
    let data: unknown = key;
    for (let depth = 0; depth < 50_000; depth++) data = [data];
    let copy = redact(data, [key]);
    while (Array.isArray(copy)) [copy] = copy;
    expect(copy).toBe("<redacted>");
  });

  test("handles cycles and a field named __proto__", () => {
    const data: Record<string, unknown> = JSON.parse(`{ "__proto__": { "x": "${key}" } }`);
    data["self"] = data;
    const copy = redact(data, [key]);
    expect(inspect(copy)).toBe(
      "<ref *1> { ['__proto__']: { x: '<redacted>' }, self: [Circular *1] }",
    );
  });
});

describe("redactError()", () => {
  test("keeps name, code and causes, and drops secrets and other properties", () => {
    const cause = Object.assign(new TypeError(`for ${key}`), { code: `E${key}` });
    const error = Object.assign(new Error(`bad ${key}`, { cause }), { headers: { key } });
    const copy = redactError(error, [key]);
    expect(inspect(copy, { depth: 9, showHidden: true })).not.toContain(key);
    expect(copy).toMatchObject({
      message: "bad <redacted>",
      cause: { name: "TypeError", message: "for <redacted>", code: "E<redacted>" },
    });
  });

  test("stops after 8 causes", () => {
    const error = new Error("one");
    error.cause = error;
    let length = 0;
    let link = redactError(error, []);
    for (; link instanceof Error; link = link.cause) length += 1;
    expect(length).toBe(9);
  });

  test("treats values that are not errors as data", () => {
    expect(redactError({ why: key }, [key])).toEqual({ why: "<redacted>" });
    expect(redactError(Object.assign(new Error("x"), { stack: undefined }), [])).toMatchObject({
      message: "x",
    });
  });
});
