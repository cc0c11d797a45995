import { describe, expect, test } from "vitest";
import { PromptEvaluationError, ThrottleError, WinkError } from "weakincentives";
import { rebuildError } from "./rebuild-error.ts";
import { serializeError } from "./serialize-error.ts";

const rebuild = (error: unknown) => rebuildError(serializeError(error));

describe("serializeError()", () => {
  test("cuts a long message", () => {
    const { message } = rebuild(new WinkError("é".repeat(20_000)));
    expect(message).toHaveLength(16_384);
    expect(message.endsWith("é…")).toBe(true);
  });

  test("does not cut within a character", () => {
    const { message } = rebuild(new WinkError(`a${"🦉".repeat(10_000)}`));
    expect(message.isWellFormed()).toBe(true);
  });

  test("keeps the short fields of an error with a long payload", () => {
    const usage = {
      ...{ inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0, totalTokens: 3 },
    };
    const output = Array.from({ length: 1_000 }, () => ({ line: "x".repeat(1_000) }));
    const error = new ThrottleError("Too many requests", {
      ...{ promptName: "owls", kind: "rate_limit", retryAfterMs: 120_000, requestId: "req_1" },
      providerPayload: { body: "y".repeat(1_000_000) },
      partial: {
        ...{ text: "z".repeat(100_000), hostedCalls: [{ output }], usage },
        ...{ responseId: "resp_1", turns: 4 },
      },
    });
    const text = serializeError(error);
    expect(text.length).toBeLessThan(100_000);
    const rebuilt = rebuildError(text);
    expect(rebuilt).toMatchObject({
      ...{ promptName: "owls", kind: "rate_limit", retryAfterMs: 120_000, requestId: "req_1" },
      partial: { usage, responseId: "resp_1", turns: 4, text: expect.stringMatching(/^z{1000}/) },
      providerPayload: { body: expect.stringMatching(/^y{1000}/) },
    });
    expect(rebuilt).toHaveProperty("partial.hostedCalls.0.output.0.line", "x".repeat(1_000));
  });

  test("keeps five causes, and stops at a cycle", () => {
    const error = new WinkError("0");
    Object.defineProperty(error, "cause", { value: new Error("1", { cause: error }) });
    const messages: string[] = [];
    for (let one: unknown = rebuild(error); one instanceof Error; one = one.cause)
      messages.push(one.message);
    expect(messages).toEqual(["0", "1", "0", "1", "0", "1"]);
  });

  test("keeps a limited number of errors", () => {
    const wide = (depth: number): Error =>
      depth === 0
        ? new Error("x".repeat(10_000))
        : new AggregateError(Array.from({ length: 8 }, () => wide(depth - 1)));
    expect(serializeError(wide(4)).length).toBeLessThan(200_000);
  });

  test("leaves out cycles, functions, class instances and deep data", () => {
    const cyclic: Record<string, unknown> = { one: 1, at: new Date(), map: new Map(), run() {} };
    cyclic["self"] = { cyclic };
    cyclic["list"] = [cyclic, 1n, undefined, Number.NaN];
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
    const error = new PromptEvaluationError("m", {
      ...{ promptName: "owls", phase: "tool", providerPayload: { cyclic, deep } },
    });
    expect(rebuild(error)).toHaveProperty("providerPayload.cyclic", {
      ...{ one: 1, self: {}, list: [null, null, null, null] },
    });
  });

  test.each([
    ["superseded", "superseded"],
    [undefined, "undefined"],
    [7n, "7"],
    [{ code: 7 }, '{"code":7}'],
    [() => {}, "a function"],
  ])("turns the value %s into an error", (thrown, message) => {
    expect(rebuild(thrown)).toMatchObject({ name: "Error", message });
  });

  test("does not throw if the error does", () => {
    const hostile = () => {
      throw new Error("no");
    };
    const named = Object.defineProperty(new Error("m"), "name", { get: hostile });
    expect(rebuild(named).message).toBe("a Error");
    const proxy = new Proxy(new Error("m"), { ownKeys: hostile, getPrototypeOf: hostile });
    expect(rebuild(proxy).message).toBe("a value that cannot be displayed");
    const field = Object.defineProperty(new Error("m"), "field", {
      get: hostile,
      enumerable: true,
    });
    expect(rebuild(field).message).toBe("m");
  });

  test("stores a name and a message that are not texts as texts", () => {
    const odd = Object.assign(new Error("m"), { name: 7, message: { a: 1 }, stack: 8 });
    expect(rebuild(odd)).toMatchObject({ name: "7", message: "[object Object]" });
  });
});
