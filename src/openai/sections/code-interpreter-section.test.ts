import { describe, expect, test } from "vitest";
import { OpenAICodeInterpreterSection } from "./code-interpreter-section.ts";

describe("OpenAICodeInterpreterSection", () => {
  test("defaults to Python without a separate container", () => {
    const section = new OpenAICodeInterpreterSection();
    expect(section.defaultParams).toEqual({ allowedLanguages: ["python"], timeoutSeconds: 30 });
    expect(section.tool.config).toEqual({});
    expect(Object.isFrozen(section.defaultParams.allowedLanguages)).toBe(true);
  });

  test("passes its params to the tool", () => {
    const container = { type: "auto", memoryLimit: "4g", fileIds: ["file_1"] } as const;
    const section = new OpenAICodeInterpreterSection({
      defaultParams: { container, timeoutSeconds: 60 },
    });
    expect(section.tool.config).toEqual({ container, timeoutSeconds: 60 });
    expect(section.defaultParams).toEqual({
      allowedLanguages: ["python"],
      timeoutSeconds: 60,
      container,
    });
  });

  test("clones with the same or other params", () => {
    const section = new OpenAICodeInterpreterSection({
      defaultParams: { container: { id: "cntr_1" } },
    });
    expect(section.clone().tool.config).toEqual({ container: { id: "cntr_1" } });
    expect(section.clone({ defaultParams: {} }).tool.config).toEqual({});
  });
});

test.each<[unknown, string, string]>([
  ["auto", "", "must be a plain object"],
  [{ memoryLimit: "4g" }, " key", "must be one of"],
  [
    { container: { type: "auto", memoryLimit: "8g" } },
    ".container.memoryLimit",
    'must be one of "1g", "4g", "16g", "64g", got "8g"',
  ],
  [{ container: {} }, ".container", 'must have a "type" or an "id"'],
  [{ container: { id: "" } }, ".container.id", "must be a non-blank single-line string"],
  [{ timeoutSeconds: 0 }, ".timeoutSeconds", "must be an integer of at least 1"],
])("OpenAICodeInterpreterSection rejects the default params %o", (defaultParams, place, says) => {
  const create = () => new OpenAICodeInterpreterSection({ key: "py", defaultParams } as never);
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field: `Section "py" defaultParams${place}`,
    message: expect.stringContaining(says),
  });
  expect(create).toThrow(refusal);
});

test("OpenAICodeInterpreterSection never reveals a secret in default params", () => {
  const domainSecrets = [{ domain: "example.com", name: "", value: "hunter2" }];
  const networkPolicy = { type: "allowlist", allowedDomains: ["example.com"], domainSecrets };
  const defaultParams = { container: { type: "auto", networkPolicy } };
  const make = () => new OpenAICodeInterpreterSection({ defaultParams } as never);
  expect(make).toThrow("domainSecrets[0].name must be a non-blank single-line string");
  expect(make).not.toThrow("hunter2");
  const bare = { container: { type: "auto", networkPolicy: "hunter2" } };
  expect(() => new OpenAICodeInterpreterSection({ defaultParams: bare } as never)).toThrow(
    'Section "openai_code_interpreter" defaultParams.container.networkPolicy must be a plain ' +
      "object, got a secret (not shown). Use { … }",
  );
});
