import { expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { formatError } from "./format-error.ts";

test("escapes control characters, which a provider or a file may have sent, but not line breaks", () => {
  const message = "No \u001b[31mflour\u202e.\n\tBuy some.";
  expect(formatError(new WinkError(message))).toBe(
    "error: No \\u{1b}[31mflour\\u{202e}.\n\tBuy some.",
  );
});

test("reports any other error as a bug", () => {
  expect(formatError(new TypeError("broken"))).toMatch(/^error: broken\n\(this is a bug in wink;/);
});
