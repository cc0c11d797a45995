import { describe, expect, test } from "vitest";
import type { ShellExecutor } from "../../tools/hosted/shell.ts";
import { OpenAIShellSection } from "./shell-section.ts";

const executor: ShellExecutor = { run: async () => [] };
const local = { environment: { type: "local" } } as const;

describe("OpenAIShellSection", () => {
  test("runs commands in a container by default", () => {
    const section = new OpenAIShellSection();
    expect(section.defaultParams).toEqual({ environment: { type: "container" } });
    expect(section.tool.config).toEqual({});
    expect(section.tool.live).toEqual({ needsApproval: false });
  });

  test("accepts container options", () => {
    const defaultParams = { environment: { type: "container", memoryLimit: "4g" } } as const;
    const section = new OpenAIShellSection({ defaultParams });
    expect([section.defaultParams, section.tool.config]).toEqual([defaultParams, defaultParams]);
  });

  test("runs commands locally with its executor", () => {
    const section = new OpenAIShellSection({ defaultParams: local, executor });
    expect(section.defaultParams).toEqual(local);
    expect(section.tool.live.executor).toBe(executor);
  });

  test("rejects models without a shell", () => {
    expect(() => new OpenAIShellSection({ model: "gpt-4o" })).toThrow("another model");
    expect(new OpenAIShellSection({ model: "gpt-5.1" }).tool.kind).toBe("shell");
  });
});

describe("OpenAIShellSection.clone()", () => {
  const section = new OpenAIShellSection({ key: "sh", defaultParams: local, executor });

  test("retains the executor and the environment", () => {
    for (const clone of [section.clone(), section.clone({ key: "other" })]) {
      expect(clone.defaultParams).toEqual(local);
      expect(clone.tool.live.executor).toBe(executor);
    }
    expect(section.clone({ defaultParams: local }).tool.live.executor).toBe(executor);
  });

  test("asks for approval like the original, or unlike it", () => {
    const asking = new OpenAIShellSection({ defaultParams: local, executor, needsApproval: true });
    expect(asking.clone().tool.live.needsApproval).toBe(true);
    expect(asking.clone({ needsApproval: false }).tool.live.needsApproval).toBe(false);
    expect(() => new OpenAIShellSection({ key: "sh", needsApproval: "yes" } as never)).toThrow(
      'Section "sh" needsApproval must be true, false or a function',
    );
  });

  test("accepts another executor", () => {
    const other: ShellExecutor = { run: async () => [] };
    expect(section.clone({ executor: other }).tool.live.executor).toBe(other);
  });

  test("drops the executor for a container, and rejects one there", () => {
    const defaultParams = { environment: { type: "container" } } as const;
    expect(section.clone({ defaultParams }).tool.live).toEqual({ needsApproval: false });
    expect(section.clone({ defaultParams: {} }).tool.live).toEqual({ needsApproval: false });
    expect(() => section.clone({ defaultParams, executor })).toThrow(
      'Section "sh" executor must be omitted in a container environment',
    );
  });

  test("can run commands locally if the original did not", () => {
    const clone = new OpenAIShellSection().clone({ defaultParams: local, executor });
    expect(clone.tool.live.executor).toBe(executor);
    expect(() => new OpenAIShellSection().clone({ defaultParams: local })).toThrow(
      'Section "openai_shell" executor must be a ShellExecutor in a local environment',
    );
  });
});

test.each<[object, string, string]>([
  [{ defaultParams: null }, "defaultParams", "must be a plain object"],
  [{ defaultParams: { env: {} } }, "defaultParams key", "must be"],
  [
    { defaultParams: { environment: { type: "cloud" } } },
    "defaultParams.environment.type",
    'must be one of "container", "local", got "cloud"',
  ],
  [
    { defaultParams: { environment: { type: "container", memoryLimit: "8g" } } },
    "defaultParams.environment.memoryLimit",
    'got "8g"',
  ],
  [
    { defaultParams: { environment: { type: "container", containerId: "c", fileIds: ["f"] } } },
    "defaultParams.environment.containerId",
    "must be omitted if fileIds or networkPolicy is set",
  ],
  [{ defaultParams: local }, "executor", "must be a ShellExecutor"],
  [{ defaultParams: local, executor: {} }, "executor", "must be a ShellExecutor"],
  [{ executor }, "executor", "must be omitted in a container environment"],
])("OpenAIShellSection rejects %o", (options, place, says) => {
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `Section "sh" ${place}`,
    message: expect.stringContaining(says),
  });
  expect(() => new OpenAIShellSection({ key: "sh", ...options } as never)).toThrow(refusal);
});
