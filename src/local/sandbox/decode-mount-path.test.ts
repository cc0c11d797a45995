import { expect, test } from "vitest";
import { decodeMountPath } from "./decode-mount-path.ts";

test("decodeMountPath() decodes spaces, tabs, newlines and backslashes", () => {
  expect(decodeMountPath("/a\\040b\\011c\\012d\\134e/f")).toBe("/a b\tc\nd\\e/f");
});
