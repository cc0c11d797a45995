import { describe, expect, test } from "vitest";
import {
  type CodeInterpreterConfig,
  checkContainer,
  codeInterpreterTool,
} from "./code-interpreter.ts";

const make = (config: unknown): unknown => Reflect.apply(codeInterpreterTool, undefined, [config]);
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const ids = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}`);

const complete = (): CodeInterpreterConfig => ({
  allowedLanguages: ["python"],
  timeoutSeconds: 60,
  container: {
    type: "auto",
    memoryLimit: "4g",
    fileIds: ["file-1"],
    networkPolicy: { type: "allowlist", allowedDomains: ["pypi.org"] },
    hostMounts: [{ hostPath: "sunfish", includeGlob: ["*.py"], maxBytes: 600_000 }],
    allowedHostRoots: ["/srv"],
  },
});

describe("codeInterpreterTool", () => {
  test("runs code with no config at all", () => {
    expect(codeInterpreterTool()).toMatchObject({
      kind: "code_interpreter",
      name: "code_interpreter",
      description: "Execute code in a sandboxed environment.",
      config: {},
    });
  });

  test("may go by another name", () => {
    expect(codeInterpreterTool({}, { name: "python" }).name).toBe("python");
  });

  test("keeps a frozen copy of its config, and leaves the caller's alone", () => {
    const config = complete();
    const { config: kept } = codeInterpreterTool(config);
    expect(kept).toEqual(config);
    const { container } = kept;
    for (const part of [kept, container, ...Object.values(container ?? {})]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(complete());
    expect(Object.isFrozen(config.container)).toBe(false);
  });
});

test.each<CodeInterpreterConfig>([
  {},
  complete(),
  { allowedLanguages: undefined, timeoutSeconds: undefined, container: undefined },
  { allowedLanguages: ["python", "r"], timeoutSeconds: 1 },
  { container: { type: "auto" } },
  { container: { type: "auto", memoryLimit: "1g", fileIds: [] } },
  { container: { type: "auto", memoryLimit: "16g" } },
  { container: { type: "auto", networkPolicy: { type: "disabled" } } },
  { container: { type: "auto", hostMounts: [{ hostPath: "a\nb" }], allowedHostRoots: "any" } },
  { container: { id: "cntr_1" } },
  { container: { id: "cntr_1", memoryLimit: "64g" } },
])("%j is a config", (config) => {
  expect(() => codeInterpreterTool(config)).not.toThrow();
});

test.each([
  [null, "", null],
  [{ allowedLanguages: "python" }, ".allowedLanguages", "python"],
  [{ allowedLanguages: [] }, ".allowedLanguages.length", 0],
  [{ allowedLanguages: [""] }, ".allowedLanguages[0]", ""],
  [{ timeoutSeconds: 0 }, ".timeoutSeconds", 0],
  [{ timeoutSeconds: 1.5 }, ".timeoutSeconds", 1.5],
  [{ timeoutSecond: 30 }, " key", "timeoutSecond"],
  [{ container: "cntr_1" }, ".container", "cntr_1"],
  [{ container: {} }, ".container", {}],
  [{ container: null }, ".container", null],
  [{ container: { type: "explicit" } }, ".container.type", "explicit"],
  [{ container: { type: "auto", id: "cntr_1" } }, ".container key", "id"],
  [{ container: { id: "" } }, ".container.id", ""],
  [{ container: { id: "cntr_1", fileIds: [] } }, ".container key", "fileIds"],
  [{ container: { id: "cntr_1", memoryLimit: "2g" } }, ".container.memoryLimit", "2g"],
  [{ container: { type: "auto", fileIds: [" "] } }, ".container.fileIds[0]", " "],
  [{ container: { type: "auto", files: [] } }, ".container key", "files"],
  [
    { container: { type: "auto", networkPolicy: { type: "open" } } },
    ".container.networkPolicy.type",
    "open",
  ],
  [{ container: { type: "auto", hostMounts: {} } }, ".container.hostMounts", {}],
  [{ container: { type: "auto", hostMounts: ["src"] } }, ".container.hostMounts[0]", "src"],
  [
    { container: { type: "auto", hostMounts: [{ hostPath: "" }] } },
    ".container.hostMounts[0].hostPath",
    "",
  ],
  [
    { container: { type: "auto", hostMounts: [{ hostPath: "src", excludeGlobs: [] }] } },
    ".container.hostMounts[0] key",
    "excludeGlobs",
  ],
  [
    { container: { type: "auto", allowedHostRoots: "/srv" } },
    ".container.allowedHostRoots",
    "/srv",
  ],
  [{ container: { type: "auto", allowedHostRoots: [""] } }, ".container.allowedHostRoots[0]", ""],
])("%j is refused at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(
    refusal({ field: `codeInterpreterTool(config)${place}`, value }),
  );
});

test("a container takes fifty files and no more", () => {
  expect(() => make({ container: { type: "auto", fileIds: ids(50) } })).not.toThrow();
  expect(() => make({ container: { type: "auto", fileIds: ids(51) } })).toThrow(
    refusal({ field: "codeInterpreterTool(config).container.fileIds.length", value: 51 }),
  );
});

test('"8g" is refused, saying which tiers exist', () => {
  expect(() => make({ container: { type: "auto", memoryLimit: "8g" } })).toThrow(
    'codeInterpreterTool(config).container.memoryLimit must be one of "1g", "4g", "16g", "64g", got "8g"',
  );
});

test("a container is said to be new or to exist", () => {
  expect(() => checkContainer("cntr_1", "Tool.container")).toThrow(
    'Tool.container must say which container, got "cntr_1". Write { type: "auto" } for a new one, or { id: "…" } for one that exists',
  );
});
