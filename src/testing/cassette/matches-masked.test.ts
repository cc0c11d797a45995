import { expect, test } from "vitest";
import { matchesMasked } from "./matches-masked.ts";

test.each([
  ["a", "a", true],
  ["a", "b", false],
  ['"<secret>"', '"any key"', true],
  ['"<secret>"', '""', false],
  ['"<secret>"', '"a","b"', false],
  ["x<secret>y<secret>z", "x1y2z", true],
  ["x<secret>y<secret>z", "x1y2", false],
  ["x<secret>y<secret>z", "w1y2z", false],
  ["x<secret>y<secret>z", "x1w2z", false],
])("%j matches %j: %j", (recorded, text, expected) => {
  expect(matchesMasked(recorded, text)).toBe(expected);
});
