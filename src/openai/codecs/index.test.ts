import { expect, test } from "vitest";
import { defaultCodecs } from "./index.ts";

test("there is one codec for each kind, in a fixed order", () => {
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

test("every codec says what its calls' params hold", () => {
  for (const { params } of defaultCodecs) expect(Object.keys(params ?? {})).not.toHaveLength(0);
});
