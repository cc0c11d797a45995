import { describe, expect, test } from "vitest";
import {
  type CodeInterpreterConfig,
  checkContainer,
  codeInterpreterTool,
} from "./code-interpreter.ts";

const make = (config: unknown): unknown => Reflect.apply(codeInterpreterTool, undefined, [config]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });
const createIds = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}`);

const createConfig = (): CodeInterpreterConfig => ({
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

describe("codeInterpreterTool()", () => {
  test("works without a config", () => {
    expect(codeInterpreterTool()).toMatchObject({
      kind: "code_interpreter",
      name: "code_interpreter",
      description: "Execute code in a sandboxed environment.",
      config: {},
    });
  });

  test("states a timeout in its description", () => {
    const { description } = codeInterpreterTool({ timeoutSeconds: 5 });
    expect(description).toBe(
      "Execute code in a sandboxed environment. Code may run for at most 5 seconds per call.",
    );
  });

  test("accepts another name", () => {
    expect(codeInterpreterTool({}, { name: "python" }).name).toBe("python");
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = codeInterpreterTool(config);
    expect(kept).toEqual(config);
    const { container } = kept;
    for (const part of [kept, container, ...Object.values(container ?? {})]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config.container)).toBe(false);
  });
});

test.each<CodeInterpreterConfig>([
  {},
  createConfig(),
  { allowedLanguages: undefined, timeoutSeconds: undefined, container: undefined },
  { allowedLanguages: ["python", "r"], timeoutSeconds: 1 },
  { container: { type: "auto" } },
  { container: { type: "auto", memoryLimit: "1g", fileIds: [] } },
  { container: { type: "auto", memoryLimit: "16g" } },
  { container: { type: "auto", networkPolicy: { type: "disabled" } } },
  { container: { type: "auto", hostMounts: [{ hostPath: "a\nb" }], allowedHostRoots: "any" } },
  { container: { id: "cntr_1" } },
  { container: { id: "cntr_1", memoryLimit: "64g" } },
])("codeInterpreterTool() accepts %j", (config) => {
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
  [{ container: { type: "auto", hostMounts: null } }, ".container.hostMounts", null],
  [{ container: { type: "auto", hostMounts: [null] } }, ".container.hostMounts[0]", null],
  ...[
    { mountPath: 5 },
    { mountPath: null },
    { includeGlob: "*" },
    { excludeGlob: null },
    { maxBytes: -1 },
    { maxBytes: "9" },
    { followSymlinks: 1 },
    { gitignore: "yes" },
  ].map((mount): [object, string, unknown] => [
    { container: { type: "auto", hostMounts: [{ hostPath: "src", ...mount }] } },
    `.container.hostMounts[0].${Object.keys(mount)[0]}`,
    Object.values(mount)[0],
  ]),
  [
    { container: { type: "auto", hostMounts: [{ hostPath: "src", excludeGlob: ["a", ""] }] } },
    ".container.hostMounts[0].excludeGlob[1]",
    "",
  ],
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
])("codeInterpreterTool() rejects %j at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(
    matchError({ field: `codeInterpreterTool(config)${place}`, value }),
  );
});

test("codeInterpreterTool() accepts at most 50 files", () => {
  expect(() => make({ container: { type: "auto", fileIds: createIds(50) } })).not.toThrow();
  expect(() => make({ container: { type: "auto", fileIds: createIds(51) } })).toThrow(
    matchError({ field: "codeInterpreterTool(config).container.fileIds.length", value: 51 }),
  );
});

test('codeInterpreterTool() rejects the memory limit "8g" and lists the available ones', () => {
  expect(() => make({ container: { type: "auto", memoryLimit: "8g" } })).toThrow(
    'codeInterpreterTool(config).container.memoryLimit must be one of "1g", "4g", "16g", "64g", got "8g"',
  );
});

test("codeInterpreterTool() requires a container's type or id", () => {
  expect(() => checkContainer("cntr_1", "Tool.container")).toThrow(
    'Tool.container must have a "type" or an "id", got "cntr_1". Use { type: "auto" } for a new container, or { id: "…" } for an existing one.',
  );
});
