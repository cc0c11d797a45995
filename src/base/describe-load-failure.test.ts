import { expect, test } from "vitest";
import { describeLoadFailure } from "./describe-load-failure.ts";

test.each([
  "Cannot find package 'pg' imported from /app/main.js",
  "Cannot find module '/app/node_modules/pg/index.js'",
  "Failed to load url pg",
  'Could not resolve "pg"',
])("describeLoadFailure() recognizes a missing package: %s", (message) => {
  expect(describeLoadFailure(new Error(message))).toBe("is not installed");
});

test("describeLoadFailure() quotes any other error", () => {
  expect(describeLoadFailure(new Error("torn"))).toBe("could not be loaded (torn)");
});
