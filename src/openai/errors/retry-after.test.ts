import { describe, expect, test } from "vitest";
import { retryAfterMs, waitNamedIn } from "./retry-after.ts";

const now = () => Date.parse("2026-03-01T12:00:00Z");

function wait(headers: Readonly<Record<string, string>>): number | null {
  return retryAfterMs((name) => headers[name] ?? null, now);
}

describe("headers ask for a wait", () => {
  test("in milliseconds, which come before seconds", () => {
    expect(wait({ "retry-after-ms": "1500", "retry-after": "7" })).toBe(1500);
    expect(wait({ "retry-after-ms": "12.5" })).toBe(13);
  });

  test("in seconds, whole or not", () => {
    expect(wait({ "retry-after": "7" })).toBe(7_000);
    expect(wait({ "retry-after": "0.25" })).toBe(250);
    expect(wait({ "retry-after": "0" })).toBe(0);
  });

  test("as a date, compared with the time given", () => {
    expect(wait({ "retry-after": "Sun, 01 Mar 2026 12:00:30 GMT" })).toBe(30_000);
  });

  test.each([
    ["none", {}],
    ["a negative number", { "retry-after": "-5" }],
    ["a past date", { "retry-after": "Sun, 01 Mar 2026 11:59:00 GMT" }],
    ["no date", { "retry-after": "soon" }],
    ["half a date", { "retry-after": "1 2" }],
    ["nothing", { "retry-after": "" }],
    ["an exponent", { "retry-after": "1e3" }],
    ["more than a day", { "retry-after": "86401" }],
    ["an endless number", { "retry-after-ms": "9".repeat(400) }],
  ])("that is ignored where it is %s", (_, headers) => {
    expect(wait(headers)).toBeNull();
  });

  test("whose milliseconds are nonsense in seconds all the same", () => {
    expect(wait({ "retry-after-ms": "soon", "retry-after": "2" })).toBe(2_000);
  });
});

describe("a message names a wait", () => {
  test.each([
    ["Rate limit reached for gpt-x. Please try again in 2.512s. Visit https://x.", 2_512],
    ["Please try again in 20ms.", 20],
    ["Please try again in 1m12.5s.", 72_500],
    ["Please try again in 6m0s.", 360_000],
    ["Please try again in 1h2m3s", 3_723_000],
    ["Please retry after 26 seconds.", 26_000],
    ["Please try again in 2 minutes and be kind", 120_000],
    ["Try again in 150 milliseconds", 150],
  ])("%j", (message, expected) => {
    expect(waitNamedIn(message)).toBe(expected);
  });

  test.each([
    "Rate limit reached.",
    "Please try again in a while.",
    "Please try again in 5 parsecs.",
    "Please try again in 25h.",
    "",
  ])("unless it does not: %j", (message) => {
    expect(waitNamedIn(message)).toBeNull();
  });

  test("is read in a moment, however long it is", () => {
    expect(waitNamedIn(`try again in ${"1a ".repeat(100_000)}`)).toBeNull();
  });
});
