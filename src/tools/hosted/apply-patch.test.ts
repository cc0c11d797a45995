import { expect, test } from "vitest";
import { applyPatchTool } from "./apply-patch.ts";

const createTool = (config: unknown, options?: unknown): unknown =>
  Reflect.apply(applyPatchTool, undefined, [config, options]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });

test("applyPatchTool() works without a config and a file system", () => {
  const tool = applyPatchTool();
  expect(tool).toMatchObject({ kind: "apply_patch", name: "apply_patch", config: {}, live: {} });
  expect(tool.live.filesystem).toBeUndefined();
});

test("applyPatchTool() accepts another name", () => {
  expect(applyPatchTool({}, { name: "patch" }).name).toBe("patch");
});

test("applyPatchTool() passes on the given file system, unfrozen", () => {
  const filesystem = { readText() {}, writeText() {}, delete() {} };
  expect(createTool({}, { filesystem })).toHaveProperty("live.filesystem", filesystem);
  expect(Object.isFrozen(filesystem)).toBe(false);
});

test("applyPatchTool() freezes a copy of the config", () => {
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
])("applyPatchTool() rejects the config %j", (config, field, value) => {
  expect(() => createTool(config)).toThrow(matchError({ field, value }));
});

test.each([null, "/srv", {}, { readText() {}, writeText() {} }])(
  "applyPatchTool() rejects %o as a file system",
  (filesystem) => {
    expect(() => createTool({}, { filesystem })).toThrow(
      matchError({ field: "applyPatchTool(options).filesystem", value: filesystem }),
    );
  },
);

test("applyPatchTool() needs no approval by default, and keeps a boolean or a function", () => {
  const rule = () => true;
  expect(applyPatchTool().live.needsApproval).toBe(false);
  for (const needsApproval of [true, false, rule]) {
    const tool = applyPatchTool({}, { needsApproval });
    expect(tool.live.needsApproval).toBe(needsApproval);
  }
});

test.each(["always", 1, null, {}])(
  "applyPatchTool() rejects %j as needsApproval",
  (needsApproval) => {
    expect(() => createTool({}, { needsApproval })).toThrow(
      matchError({ field: "applyPatchTool(options).needsApproval", value: needsApproval }),
    );
  },
);
