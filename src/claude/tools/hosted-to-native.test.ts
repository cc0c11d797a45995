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
import { fileTools } from "./file-tools.ts";
import {
  checkHostedTools,
  findOwner,
  type HostedToolChecks,
  hostedKinds,
  nativeNames,
} from "./hosted-to-native.ts";
import { hostedToolTable } from "./hosted-tool-table.ts";

const rendered = (hostedTools: readonly HostedTool[], tools: readonly Tool[] = []) => {
  const options = { key: "task", title: "Task", template: "Work.", hostedTools, tools };
  const template = new PromptTemplate({
    ns: "demo",
    key: "k",
    sections: [new MarkdownSection(options)],
  });
  return new Prompt(template).render();
};
const custom = (kind: string, options = {}) =>
  new HostedTool({ kind, name: "mine", description: "Does things.", config: {}, ...options });

/** What becomes of one tool: `warned` has the settings that were dropped. */
function judged(tool: HostedTool, porting: Partial<HostedToolChecks> = {}) {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (_: string, facts?: object) => warned.push(facts) };
  const settings = { hasWorkspace: true, unsupported: "omit", logger, ...porting } as const;
  const omissions = checkHostedTools(rendered([tool]), settings);
  return { omissions, reason: omissions[0]?.reason ?? null, warned };
}

const refusal = (tool: HostedTool, hasWorkspace = true): unknown => {
  try {
    judged(tool, { unsupported: "error", hasWorkspace });
  } catch (error) {
    return error;
  }
  return null;
};

const executor = { run: async () => [] };
const auto = (container: object) =>
  codeInterpreterTool({ container: { type: "auto", ...container } });
const container = (environment: object) =>
  shellTool({ environment: { type: "container", ...environment } });
const allowlist = {
  type: "allowlist",
  allowedDomains: ["a.com"],
  domainSecrets: [{ domain: "a.com", name: "KEY", value: "hush-hush" }],
} as const;

const unkept: readonly (readonly [HostedTool, string])[] = [
  [
    webSearchTool({ allowLiveAccess: false }),
    'web_search" config.allowLiveAccess must not be false',
  ],
  [
    webSearchTool({ domainFilter: { allowed: ["cdc.gov"], blocked: ["a.cdc.gov"] } }),
    'web_search" config.domainFilter must not block any of what it allows',
  ],
  [
    shellTool({ environment: { type: "local" } }, { executor }),
    'shell" config.environment.type must be "container"',
  ],
  [container({ containerId: "cntr_1" }), 'shell" config.environment.containerId must be left out'],
  [container({ fileIds: ["file_1"] }), 'shell" config.environment.fileIds must be left out'],
  [
    container({ networkPolicy: allowlist }),
    'shell" config.environment.networkPolicy must be left out on Claude, where the adapter says what commands may reach, got "allowlist"',
  ],
  [
    codeInterpreterTool({ container: { id: "cntr_1" } }),
    'code_interpreter" config.container.id must be left out',
  ],
  [auto({ fileIds: ["file_1"] }), 'code_interpreter" config.container.fileIds must be left out'],
  [
    auto({ hostMounts: [{ hostPath: "/data" }] }),
    'code_interpreter" config.container.hostMounts must be left out',
  ],
  [
    auto({ networkPolicy: { type: "disabled" } }),
    'code_interpreter" config.container.networkPolicy must be left out',
  ],
  [
    applyPatchTool({}, { filesystem: new InMemoryFilesystem() }),
    'apply_patch" filesystem must be left out',
  ],
  [
    fileSearchTool({ vectorStoreIds: ["vs_1"] }),
    'file_search" kind must be one that Claude has a tool for, got "file_search". The Claude Agent SDK has no vector stores; mount the files',
  ],
  [imageGenerationTool(), 'got "image_generation". Claude draws no images; write a Tool'],
  [
    mcpTool({ serverLabel: "s", serverUrl: "https://s.example" }),
    'got "mcp". The adapter connects the model to no other server; write a Tool',
  ],
  [
    custom("web_serch"),
    'Hosted tool "mine" kind must be one that Claude has a tool for, got "web_serch". Did you mean "web_search"?',
  ],
  [custom("telepathy"), 'there are "web_search", "shell", "code_interpreter", "apply_patch"'],
];

describe("a hosted tool", () => {
  test.each([
    webSearchTool(),
    webSearchTool({ domainFilter: { allowed: ["cdc.gov"], blocked: ["x.com"] } }),
    webSearchTool({ geoHint: {}, allowLiveAccess: true }),
    webSearchTool({ geoHint: { city: undefined } }),
    shellTool(),
    container({}),
    codeInterpreterTool(),
    codeInterpreterTool({ allowedLanguages: ["python"], timeoutSeconds: 5 }),
    auto({ hostMounts: [], fileIds: [] }),
    applyPatchTool(),
    ...fileTools(),
  ])("is ported: $kind with $config", (tool) => {
    expect(refusal(tool)).toBeNull();
    expect(judged(tool)).toEqual({ omissions: [], reason: null, warned: [] });
  });

  test.each(unkept.map(([tool, message]) => [message, tool] as const))(
    "that cannot be kept is refused, or left out with the same reason: %s",
    (message, tool) => {
      const error = refusal(tool);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error).toHaveProperty("message", expect.stringContaining(message));
      expect(String(error)).not.toContain("hush");
      const { omissions, reason, warned } = judged(tool);
      expect(omissions.map((omission) => omission.tool.name)).toEqual([tool.name]);
      expect(reason).toContain(message);
      expect(warned).toEqual([]);
    },
  );

  test.each([
    ["geoHint", webSearchTool({ geoHint: { countryCode: "GB" } })],
    ["searchContextSize", webSearchTool({ searchContextSize: "low" })],
    ["container.memoryLimit", auto({ memoryLimit: "4g" })],
    ["environment.memoryLimit", container({ memoryLimit: "4g" })],
  ])("is refused with a setting that it can do without, or loses it: %s", (setting, tool) => {
    expect(String(refusal(tool))).toContain(`config.${setting} must be left out on Claude`);
    const { omissions, warned } = judged(tool);
    expect(omissions).toEqual([]);
    expect(warned).toEqual([
      { name: tool.name, field: expect.stringContaining(setting), reason: expect.any(String) },
    ]);
  });

  test("that edits files needs a workspace", () => {
    for (const tool of [applyPatchTool(), ...fileTools()]) {
      const message = `The workspace of hosted tool "${tool.name}" must be a ClaudeAgentWorkspaceSection of the prompt, got null. Give the prompt one, or leave the tool out`;
      expect(refusal(tool, false)).toHaveProperty("message", message);
      expect(judged(tool, { hasWorkspace: false }).reason).toBe(message);
    }
    expect(refusal(shellTool(), false)).toBeNull();
  });

  test("whose config its factory would refuse is refused, whatever the rule", () => {
    const field = 'Hosted tool "mine" config.domainFilter.allowed';
    const odd = custom("web_search", { config: { domainFilter: { allowed: "cdc.gov" } } });
    for (const unsupported of ["error", "omit"] as const) {
      expect(() => judged(odd, { unsupported })).toThrow(field);
    }
    const odder = [custom("shell"), custom("code_interpreter"), custom("apply_patch")];
    for (const { kind } of odder) {
      expect(() => judged(custom(kind, { config: { x: 1 } }))).toThrow(
        'Hosted tool "mine" config key',
      );
    }
  });

  test("may be declared by a native or a provider's tool", () => {
    const options = { name: "find", description: "Finds.", params: z.object({}) };
    const result = z.object({});
    const porting = { hasWorkspace: false, unsupported: "omit", logger: silentLogger } as const;
    const kinds = (tool: Tool) =>
      checkHostedTools(rendered([], [tool]), porting).map((omission) => omission.tool.kind);
    expect(kinds(new NativeTool({ ...options, result, kind: "web_search" }))).toEqual([]);
    expect(kinds(new NativeTool({ ...options, result }))).toEqual(["find"]);
    const own = { ...options, provider: "claude", config: {} };
    expect(kinds(new ProviderTool({ ...own, kind: "shell" }))).toEqual([]);
    expect(kinds(new ProviderTool({ ...own, kind: "other" }))).toEqual(["other"]);
  });

  test("stands alone of its kind", () => {
    const porting = { hasWorkspace: true, unsupported: "error", logger: silentLogger } as const;
    const twice = rendered([webSearchTool(), webSearchTool({}, { name: "other" })]);
    expect(() => checkHostedTools(twice, porting)).toThrow('two hosted tools of kind "web_search"');
    const both = rendered([shellTool(), codeInterpreterTool()]);
    expect(checkHostedTools(both, porting)).toEqual([]);
  });

  test("that could change something is left out where only plans are made", () => {
    const plan = { permissionMode: "plan", unsupported: "error" } as const;
    const reason = 'permissionMode "plan" allows only what changes nothing';
    for (const tool of [shellTool(), applyPatchTool(), codeInterpreterTool()]) {
      expect(judged(tool, plan).reason).toBe(reason);
    }
    expect(judged(webSearchTool(), plan).omissions).toEqual([]);
    expect(nativeNames("shell", "plan")).toEqual([]);
    expect(nativeNames("shell", "dontAsk")).toEqual(["Bash"]);
    expect(nativeNames("claude_read", "plan")).toEqual(["Read"]);
  });
});

describe("the tools for files", () => {
  test("belong to Claude, and have names of their own", () => {
    expect(fileTools().map(({ name, kind, provider }) => [name, kind, provider])).toEqual(
      ["claude_read", "claude_glob", "claude_grep", "claude_write", "claude_edit"].map((name) => [
        name,
        name,
        "claude",
      ]),
    );
  });

  test("only read where only plans are made", () => {
    expect(fileTools("plan").map(({ name }) => name)).toEqual([
      "claude_read",
      "claude_glob",
      "claude_grep",
    ]);
  });
});

test("a call is one of the first kind in the table that the prompt has", () => {
  const [read, , , write, edit] = fileTools();
  const all = [codeInterpreterTool(), ...fileTools(), applyPatchTool(), shellTool()];
  expect(findOwner("Bash", all)?.kind).toBe("shell");
  expect(findOwner("Bash", [codeInterpreterTool()])?.kind).toBe("code_interpreter");
  expect(findOwner("Edit", all)?.kind).toBe("apply_patch");
  expect(findOwner("Write", all)?.kind).toBe("apply_patch");
  expect(findOwner("Edit", fileTools())?.name).toBe(edit?.name);
  expect(findOwner("Write", fileTools())?.name).toBe(write?.name);
  expect(findOwner("Read", all)?.name).toBe(read?.name);
  expect(findOwner("WebSearch", all)).toBeNull();
  expect(findOwner("Nope", all)).toBeNull();
});

describe("the table for the guide", () => {
  const lines = hostedToolTable().split("\n");

  test("has a line for each kind, and one for all others", () => {
    expect(lines).toHaveLength(hostedKinds.length + 3);
    expect(lines[0]).toBe(
      '| kind | made by | tools of the SDK | what it is then | refused, or left out by `"omit"` |',
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
  ])("names what is refused of %s", (kind, factory, settings) => {
    const line = lines.find((one) => one.startsWith(`| \`${kind}\` |`));
    const refused = line?.split(" | ").at(-1);
    for (const setting of settings) expect(refused).toContain(setting);
    expect(line).toContain(`\`${factory.name}\``);
  });
});
