import { expect, test } from "vitest";
import { applyPatchTool } from "./apply-patch.ts";

const make = (config: unknown, options?: unknown): unknown =>
  Reflect.apply(applyPatchTool, undefined, [config, options]);
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });

test("a patch tool needs no config, and no file system of its own", () => {
  const tool = applyPatchTool();
  expect(tool).toMatchObject({ kind: "apply_patch", name: "apply_patch", config: {}, live: {} });
  expect(tool.live.filesystem).toBeUndefined();
});

test("a patch tool may go by another name", () => {
  expect(applyPatchTool({}, { name: "patch" }).name).toBe("patch");
});

test("the very file system it was given is handed on, unfrozen", () => {
  const filesystem = { readText() {}, writeText() {}, delete() {} };
  expect(make({}, { filesystem })).toHaveProperty("live.filesystem", filesystem);
  expect(Object.isFrozen(filesystem)).toBe(false);
});

test("the config is a frozen copy, and the caller's is left alone", () => {
  const config = {};
  const tool = applyPatchTool(config);
  expect(tool.config).not.toBe(config);
  expect(Object.isFrozen(tool.config)).toBe(true);
  expect(Object.isFrozen(config)).toBe(false);
});

test.each([
  [{ atomic: true }, "applyPatchTool(config) key", "atomic"],
  [null, "applyPatchTool(config)", null],
  [[], "applyPatchTool(config)", []],
])("the config %j is refused", (config, field, value) => {
  expect(() => make(config)).toThrow(refusal({ field, value }));
});

test.each([null, "/srv", {}, { readText() {}, writeText() {} }])(
  "%o is no file system",
  (filesystem) => {
    expect(() => make({}, { filesystem })).toThrow(
      refusal({ field: "applyPatchTool(options).filesystem", value: filesystem }),
    );
  },
);
