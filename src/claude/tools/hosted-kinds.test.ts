import { describe, expect, test } from "vitest";
import * as z from "zod";
import { InvalidOptionError } from "../../base/errors.ts";
import { silentLogger } from "../../base/logger.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { fileSearchTool } from "../../tools/hosted/file-search.ts";
import { imageGenerationTool } from "../../tools/hosted/image-generation.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool } from "../../tools/provider-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import { createFileTools } from "./file-tools.ts";
import {
  checkHostedTools,
  findOwner,
  type HostedToolChecks,
  hostedKinds,
  listNativeNames,
} from "./hosted-kinds.ts";
import { renderHostedToolTable } from "./render-hosted-tool-table.ts";

const renderPrompt = (hostedTools: readonly HostedTool[], tools: readonly Tool[] = []) => {
  const options = { key: "task", title: "Task", template: "Work.", hostedTools, tools };
  const template = new PromptTemplate({
    ns: "demo",
    key: "k",
    sections: [new MarkdownSection(options)],
  });
  return new Prompt(template).render();
};
const createTool = (kind: string, options = {}) =>
  new HostedTool({ kind, name: "mine", description: "Does things.", config: {}, ...options });

/** Checks one tool. `warnings` has the dropped settings. */
function checkTool(tool: HostedTool, checks: Partial<HostedToolChecks> = {}) {
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_: string, facts?: object) => warnings.push(facts) };
  const settings = { hasWorkspace: true, unsupported: "omit", logger, ...checks } as const;
  const omissions = checkHostedTools(renderPrompt([tool]), settings);
  return { omissions, reason: omissions[0]?.reason ?? null, warnings };
}

const catchError = (tool: HostedTool, hasWorkspace = true): unknown => {
  try {
    checkTool(tool, { unsupported: "error", hasWorkspace });
  } catch (error) {
    return error;
  }
  return null;
};

const executor = { run: async () => [] };
const createCodeTool = (container: object) =>
  codeInterpreterTool({ container: { type: "auto", ...container } });
const createShell = (environment: object) =>
  shellTool({ environment: { type: "container", ...environment } });
const allowlist = {
  type: "allowlist",
  allowedDomains: ["a.com"],
  domainSecrets: [{ domain: "a.com", name: "KEY", value: "hush-hush" }],
} as const;

const unsupportedTools: readonly (readonly [HostedTool, string])[] = [
  [
    webSearchTool({ allowLiveAccess: false }),
    'web_search" config.allowLiveAccess must not be false',
  ],
  [
    webSearchTool({ domainFilter: { allowed: ["cdc.gov"], blocked: ["a.cdc.gov"] } }),
    'web_search" config.domainFilter must not block part of an allowed domain',
  ],
  [
    shellTool({ environment: { type: "local" } }, { executor }),
    'shell" config.environment.type must be "container"',
  ],
  [createShell({ containerId: "cntr_1" }), 'shell" config.environment.containerId must be omitted'],
  [createShell({ fileIds: ["file_1"] }), 'shell" config.environment.fileIds must be omitted'],
  [
    createShell({ networkPolicy: allowlist }),
    'shell" config.environment.networkPolicy must be omitted on Claude, where the adapter\'s isolation controls the network, got "allowlist"',
  ],
  [
    codeInterpreterTool({ container: { id: "cntr_1" } }),
    'code_interpreter" config.container.id must be omitted',
  ],
  [
    createCodeTool({ fileIds: ["file_1"] }),
    'code_interpreter" config.container.fileIds must be omitted',
  ],
  [
    createCodeTool({ hostMounts: [{ hostPath: "/data" }] }),
    'code_interpreter" config.container.hostMounts must be omitted',
  ],
  [
    createCodeTool({ networkPolicy: { type: "disabled" } }),
    'code_interpreter" config.container.networkPolicy must be omitted',
  ],
  [
    applyPatchTool({}, { filesystem: new InMemoryFilesystem() }),
    'apply_patch" filesystem must be omitted',
  ],
  [
    fileSearchTool({ vectorStoreIds: ["vs_1"] }),
    'file_search" kind must be a kind that Claude supports, got "file_search". Mount the files with a ClaudeAgentWorkspaceSection, or write a Tool that searches them; the Claude Agent SDK has no vector stores.',
  ],
  [
    imageGenerationTool(),
    'got "image_generation". Write a Tool that generates them; Claude does not generate images.',
  ],
  [
    mcpTool({ serverLabel: "s", serverUrl: "https://s.example" }),
    'got "mcp". Write a Tool whose handler calls the server; the adapter does not connect the model to other servers.',
  ],
  [
    createTool("web_serch"),
    'Hosted tool "mine" kind must be a kind that Claude supports, got "web_serch". Did you mean "web_search"?',
  ],
  [createTool("telepathy"), 'Use "web_search", "shell", "code_interpreter", "apply_patch"'],
];

describe("checkHostedTools()", () => {
  test.each([
    webSearchTool(),
    webSearchTool({ domainFilter: { allowed: ["cdc.gov"], blocked: ["x.com"] } }),
    webSearchTool({ geoHint: {}, allowLiveAccess: true }),
    webSearchTool({ geoHint: { city: undefined } }),
    shellTool(),
    createShell({}),
    codeInterpreterTool(),
    codeInterpreterTool({ allowedLanguages: ["python"], timeoutSeconds: 5 }),
    createCodeTool({ hostMounts: [], fileIds: [] }),
    applyPatchTool(),
    ...createFileTools(),
  ])("accepts $kind with $config", (tool) => {
    expect(catchError(tool)).toBeNull();
    expect(checkTool(tool)).toEqual({ omissions: [], reason: null, warnings: [] });
  });

  test.each(unsupportedTools.map(([tool, message]) => [message, tool] as const))(
    "rejects an unsupported tool, or omits it with the same reason: %s",
    (message, tool) => {
      const error = catchError(tool);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error).toHaveProperty("message", expect.stringContaining(message));
      expect(String(error)).not.toContain("hush");
      const { omissions, reason, warnings } = checkTool(tool);
      expect(omissions.map((omission) => omission.tool.name)).toEqual([tool.name]);
      expect(reason).toContain(message);
      expect(warnings).toEqual([]);
    },
  );

  test.each([
    ["geoHint", webSearchTool({ geoHint: { countryCode: "GB" } })],
    ["searchContextSize", webSearchTool({ searchContextSize: "low" })],
    ["container.memoryLimit", createCodeTool({ memoryLimit: "4g" })],
    ["environment.memoryLimit", createShell({ memoryLimit: "4g" })],
  ])("rejects a droppable setting, or drops it: %s", (setting, tool) => {
    expect(String(catchError(tool))).toContain(`config.${setting} must be omitted on Claude`);
    const { omissions, warnings } = checkTool(tool);
    expect(omissions).toEqual([]);
    expect(warnings).toEqual([
      { name: tool.name, field: expect.stringContaining(setting), reason: expect.any(String) },
    ]);
  });

  test("requires a workspace for file tools", () => {
    for (const tool of [applyPatchTool(), ...createFileTools()]) {
      const message = `Hosted tool "${tool.name}" workspace must be a ClaudeAgentWorkspaceSection in the prompt, got null. Add one to the prompt, or remove the tool.`;
      expect(catchError(tool, false)).toHaveProperty("message", message);
      expect(checkTool(tool, { hasWorkspace: false }).reason).toBe(message);
    }
    expect(catchError(shellTool(), false)).toBeNull();
  });

  test("rejects an invalid config even if unsupported tools are omitted", () => {
    const field = 'Hosted tool "mine" config.domainFilter.allowed';
    const odd = createTool("web_search", { config: { domainFilter: { allowed: "cdc.gov" } } });
    for (const unsupported of ["error", "omit"] as const) {
      expect(() => checkTool(odd, { unsupported })).toThrow(field);
    }
    const odder = [createTool("shell"), createTool("code_interpreter"), createTool("apply_patch")];
    for (const { kind } of odder) {
      expect(() => checkTool(createTool(kind, { config: { x: 1 } }))).toThrow(
        'Hosted tool "mine" config key',
      );
    }
  });

  test("accepts kinds that a NativeTool or ProviderTool declares", () => {
    const options = { name: "find", description: "Finds.", params: z.object({}) };
    const result = z.object({});
    const checks = { hasWorkspace: false, unsupported: "omit", logger: silentLogger } as const;
    const listOmittedKinds = (tool: Tool) =>
      checkHostedTools(renderPrompt([], [tool]), checks).map((omission) => omission.tool.kind);
    expect(listOmittedKinds(new NativeTool({ ...options, result, kind: "web_search" }))).toEqual(
      [],
    );
    expect(listOmittedKinds(new NativeTool({ ...options, result }))).toEqual(["find"]);
    const own = { ...options, provider: "claude", config: {} };
    expect(listOmittedKinds(new ProviderTool({ ...own, kind: "shell" }))).toEqual([]);
    expect(listOmittedKinds(new ProviderTool({ ...own, kind: "other" }))).toEqual(["other"]);
  });

  test("rejects two tools of the same kind", () => {
    const checks = { hasWorkspace: true, unsupported: "error", logger: silentLogger } as const;
    const twice = renderPrompt([webSearchTool(), webSearchTool({}, { name: "other" })]);
    expect(() => checkHostedTools(twice, checks)).toThrow('are both of kind "web_search"');
    const both = renderPrompt([shellTool(), codeInterpreterTool()]);
    expect(checkHostedTools(both, checks)).toEqual([]);
  });

  test("omits tools that are not read-only in plan mode", () => {
    const plan = { permissionMode: "plan", unsupported: "error" } as const;
    const reason = 'permissionMode "plan" allows only read-only tools';
    for (const tool of [shellTool(), applyPatchTool(), codeInterpreterTool()]) {
      expect(checkTool(tool, plan).reason).toBe(reason);
    }
    expect(checkTool(webSearchTool(), plan).omissions).toEqual([]);
    expect(listNativeNames("shell", "plan")).toEqual([]);
    expect(listNativeNames("shell", "dontAsk")).toEqual(["Bash"]);
    expect(listNativeNames("claude_read", "plan")).toEqual(["Read"]);
  });
});

describe("createFileTools()", () => {
  test("creates tools of provider claude with their own kinds", () => {
    expect(createFileTools().map(({ name, kind, provider }) => [name, kind, provider])).toEqual(
      ["claude_read", "claude_glob", "claude_grep", "claude_write", "claude_edit"].map((name) => [
        name,
        name,
        "claude",
      ]),
    );
  });

  test("creates only read tools in plan mode", () => {
    expect(createFileTools("plan").map(({ name }) => name)).toEqual([
      "claude_read",
      "claude_glob",
      "claude_grep",
    ]);
  });
});

test("findOwner() returns the prompt's tool whose kind is first in the table", () => {
  const [read, , , write, edit] = createFileTools();
  const all = [codeInterpreterTool(), ...createFileTools(), applyPatchTool(), shellTool()];
  expect(findOwner("Bash", all)?.kind).toBe("shell");
  expect(findOwner("Bash", [codeInterpreterTool()])?.kind).toBe("code_interpreter");
  expect(findOwner("Edit", all)?.kind).toBe("apply_patch");
  expect(findOwner("Write", all)?.kind).toBe("apply_patch");
  expect(findOwner("Edit", createFileTools())?.name).toBe(edit?.name);
  expect(findOwner("Write", createFileTools())?.name).toBe(write?.name);
  expect(findOwner("Read", all)?.name).toBe(read?.name);
  expect(findOwner("WebSearch", all)).toBeNull();
  expect(findOwner("Nope", all)).toBeNull();
});

describe("renderHostedToolTable()", () => {
  const lines = renderHostedToolTable().split("\n");

  test("has a row for each kind, and one for all other kinds", () => {
    expect(lines).toHaveLength(hostedKinds.length + 3);
    expect(lines[0]).toBe(
      '| kind | created by | SDK tools | behavior on Claude | rejected, or omitted with `"omit"` |',
    );
    expect(lines[1]).toBe("| --- | --- | --- | --- | --- |");
    for (const { kind, tools } of hostedKinds) {
      const line = lines.find((one) => one.startsWith(`| \`${kind}\` |`));
      for (const tool of tools) expect(line).toContain(`\`${tool}\``);
      expect(line?.split(" | ")).toHaveLength(5);
    }
    expect(lines.at(-1)).toMatch(/^\| any other \|/);
  });

  test.each([
    [
      "web_search",
      webSearchTool,
      ["allowLiveAccess", "domainFilter", "geoHint", "searchContextSize"],
    ],
    ["shell", shellTool, ["environment", "containerId", "fileIds", "networkPolicy", "memoryLimit"]],
    [
      "code_interpreter",
      codeInterpreterTool,
      ["existing container", "fileIds", "hostMounts", "networkPolicy", "memoryLimit"],
    ],
    ["apply_patch", applyPatchTool, ["ClaudeAgentWorkspaceSection", "filesystem"]],
  ])("names the unsupported settings of %s", (kind, factory, settings) => {
    const line = lines.find((one) => one.startsWith(`| \`${kind}\` |`));
    const lastCell = line?.split(" | ").at(-1);
    for (const setting of settings) expect(lastCell).toContain(setting);
    expect(line).toContain(`\`${factory.name}\``);
  });
});
