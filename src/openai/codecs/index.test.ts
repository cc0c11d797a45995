import { expect, test } from "vitest";
import { defaultCodecs } from "./index.ts";

test("defaultCodecs has one codec per kind, in a fixed order", () => {
  expect(defaultCodecs.map(({ kind }) => kind)).toEqual([
    "web_search",
    "file_search",
    "code_interpreter",
    "shell",
    "apply_patch",
    "image_generation",
    "mcp",
  ]);
});

test("every default codec declares the params of its calls", () => {
  for (const { params } of defaultCodecs) expect(Object.keys(params ?? {})).not.toHaveLength(0);
});
