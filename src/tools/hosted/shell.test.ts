import { describe, expect, test } from "vitest";
import { type ShellConfig, type ShellExecutor, shellTool } from "./shell.ts";

const createTool = (config: unknown, options?: unknown): unknown =>
  Reflect.apply(shellTool, undefined, [config, options]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const executor: ShellExecutor = {
  run: async (commands) =>
    commands.map((stdout) => ({ stdout, stderr: "", outcome: { type: "exit", exitCode: 0 } })),
};

const createConfig = (): ShellConfig => ({
  environment: {
    type: "container",
    memoryLimit: "4g",
    fileIds: ["file-1"],
    networkPolicy: { type: "disabled" },
  },
});

describe("shellTool()", () => {
  test("runs in a container without a config", () => {
    const tool = shellTool();
    expect(tool).toMatchObject({ kind: "shell", name: "shell", config: {}, live: {} });
    expect(tool.live.executor).toBeUndefined();
  });

  test("accepts another name", () => {
    expect(shellTool({}, { name: "bash" }).name).toBe("bash");
  });

  test("passes on the given executor", () => {
    const tool = shellTool({ environment: { type: "local" } }, { executor });
    expect(tool.live.executor).toBe(executor);
    expect(Object.isFrozen(executor)).toBe(false);
    expect(Object.isFrozen(tool.live)).toBe(true);
  });

  test("accepts a class instance as executor", () => {
    class Sandboxed implements ShellExecutor {
      run = executor.run;
    }
    const instance = new Sandboxed();
    const tool = shellTool({ environment: { type: "local" } }, { executor: instance });
    expect(tool.live.executor).toBe(instance);
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = shellTool(config);
    expect(kept).toEqual(config);
    for (const part of [kept, kept.environment, ...Object.values(kept.environment ?? {})]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config.environment)).toBe(false);
  });
});

test.each<ShellConfig>([
  {},
  createConfig(),
  { environment: undefined },
  { environment: { type: "container" } },
  { environment: { type: "container", containerId: "cntr_1" } },
  { environment: { type: "container", containerId: "cntr_1", memoryLimit: "1g" } },
])("shellTool() accepts %j", (config) => {
  expect(() => shellTool(config)).not.toThrow();
});

test.each([
  [null, "", null],
  [{ enviroment: {} }, " key", "enviroment"],
  [{ environment: "local" }, ".environment", "local"],
  [{ environment: {} }, ".environment.type", undefined],
  [{ environment: { type: "container_auto" } }, ".environment.type", "container_auto"],
  [{ environment: { type: "local", memoryLimit: "1g" } }, ".environment key", "memoryLimit"],
  [{ environment: { type: "container", memoryLimit: "8g" } }, ".environment.memoryLimit", "8g"],
  [{ environment: { type: "container", fileIds: [""] } }, ".environment.fileIds[0]", ""],
  [{ environment: { type: "container", containerId: " " } }, ".environment.containerId", " "],
  [{ environment: { type: "container", id: "cntr_1" } }, ".environment key", "id"],
  [
    { environment: { type: "container", networkPolicy: { type: "open" } } },
    ".environment.networkPolicy.type",
    "open",
  ],
  [
    { environment: { type: "container", containerId: "cntr_1", fileIds: ["file-1"] } },
    ".environment.containerId",
    "cntr_1",
  ],
  [
    {
      environment: {
        type: "container",
        containerId: "cntr_1",
        networkPolicy: { type: "disabled" },
      },
    },
    ".environment.containerId",
    "cntr_1",
  ],
])("shellTool() rejects %j at %j", (config, place, value) => {
  expect(() => createTool(config)).toThrow(
    matchError({ field: `shellTool(config)${place}`, value }),
  );
});

test.each([undefined, null, {}, { run: "ls" }, () => {}])(
  "shellTool() rejects %o as the executor of a local environment",
  (given) => {
    expect(() => createTool({ environment: { type: "local" } }, { executor: given })).toThrow(
      matchError({ field: "shellTool(options).executor", value: given }),
    );
  },
);

test.each([undefined, {}, createConfig()])("shellTool() rejects an executor with %j", (config) => {
  expect(() => shellTool(config, { executor })).toThrow(
    matchError({ field: "shellTool(options).executor", value: executor }),
  );
});

test("shellTool() needs no approval by default, and keeps a boolean or a function", () => {
  const rule = () => true;
  expect(shellTool().live.needsApproval).toBe(false);
  for (const needsApproval of [true, false, rule]) {
    const tool = shellTool({ environment: { type: "local" } }, { executor, needsApproval });
    expect(tool.live.needsApproval).toBe(needsApproval);
  }
});

test.each(["always", 1, null, {}])("shellTool() rejects %j as needsApproval", (needsApproval) => {
  expect(() => createTool({}, { needsApproval })).toThrow(
    matchError({ field: "shellTool(options).needsApproval", value: needsApproval }),
  );
});
