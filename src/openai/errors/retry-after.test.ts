import { describe, expect, test } from "vitest";
import { parseDelay, readRetryAfter } from "./retry-after.ts";

const now = () => Date.parse("2026-03-01T12:00:00Z");

function readDelay(headers: Readonly<Record<string, string>>): number | null {
  return readRetryAfter((name) => headers[name] ?? null, now);
}

describe("readRetryAfter()", () => {
  test("prefers retry-after-ms over retry-after", () => {
    expect(readDelay({ "retry-after-ms": "1500", "retry-after": "7" })).toBe(1500);
    expect(readDelay({ "retry-after-ms": "12.5" })).toBe(13);
  });

  test("reads whole and fractional seconds", () => {
    expect(readDelay({ "retry-after": "7" })).toBe(7_000);
    expect(readDelay({ "retry-after": "0.25" })).toBe(250);
    expect(readDelay({ "retry-after": "0" })).toBe(0);
  });

  test("reads a date relative to the clock", () => {
    expect(readDelay({ "retry-after": "Sun, 01 Mar 2026 12:00:30 GMT" })).toBe(30_000);
  });

  test.each([
    ["no header", {}],
    ["a negative number", { "retry-after": "-5" }],
    ["a past date", { "retry-after": "Sun, 01 Mar 2026 11:59:00 GMT" }],
    ["an invalid date", { "retry-after": "soon" }],
    ["half a date", { "retry-after": "1 2" }],
    ["an empty header", { "retry-after": "" }],
    ["an exponent", { "retry-after": "1e3" }],
    ["more than a day", { "retry-after": "86401" }],
    ["an endless number", { "retry-after-ms": "9".repeat(400) }],
  ])("returns null for %s", (_, headers) => {
    expect(readDelay(headers)).toBeNull();
  });

  test("falls back to seconds if the milliseconds are invalid", () => {
    expect(readDelay({ "retry-after-ms": "soon", "retry-after": "2" })).toBe(2_000);
  });
});

describe("parseDelay()", () => {
  test.each([
    ["Rate limit reached for gpt-x. Please try again in 2.512s. Visit https://x.", 2_512],
    ["Please try again in 20ms.", 20],
    ["Please try again in 1m12.5s.", 72_500],
    ["Please try again in 6m0s.", 360_000],
    ["Please try again in 1h2m3s", 3_723_000],
    ["Please retry after 26 seconds.", 26_000],
    ["Please try again in 2 minutes and be kind", 120_000],
    ["Try again in 150 milliseconds", 150],
  ])("reads the delay in %j", (message, expected) => {
    expect(parseDelay(message)).toBe(expected);
  });

  test.each([
    "Rate limit reached.",
    "Please try again in a while.",
    "Please try again in 5 parsecs.",
    "Please try again in 25h.",
    "",
  ])("returns null for %j", (message) => {
    expect(parseDelay(message)).toBeNull();
  });

  test("is fast for a very long message", () => {
    expect(parseDelay(`try again in ${"1a ".repeat(100_000)}`)).toBeNull();
  });
});
