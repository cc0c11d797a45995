import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { fileSearchTool } from "../../tools/hosted/file-search.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { createFileTools } from "./file-tools.ts";
import { hasSucceeded, listUndisclosedTools, NativeTools } from "./native-tools.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "native-")));
beforeAll(() => {
  writeFileSync(join(workspace, "a.txt"), "a");
  symlinkSync("/etc", join(workspace, "link"));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const createTools = (hostedTools: readonly HostedTool[], options = {}) =>
  new NativeTools(hostedTools, { workspace, ...options });
const everything = [webSearchTool(), shellTool(), applyPatchTool(), ...createFileTools()];
const ended = { id: "toolu_1", response: null, error: null };

describe("NativeTools.names", () => {
  test.each([
    [[], []],
    [[fileSearchTool({ vectorStoreIds: [] })], []],
    [[webSearchTool()], ["WebSearch"]],
    [[shellTool(), codeInterpreterTool()], ["Bash"]],
    [[applyPatchTool()], ["Write", "Edit"]],
    [everything, ["WebSearch", "Bash", "Write", "Edit", "Read", "Glob", "Grep"]],
  ])("for the hosted tools %j are %j", (hostedTools, names) => {
    const native = createTools(hostedTools);
    expect(native.names).toEqual(names);
    expect(names.every((name) => native.isEnabled(name))).toBe(true);
    expect(native.isEnabled("NotebookEdit")).toBe(false);
  });

  test("include only read-only tools in plan mode", () => {
    expect(createTools(everything, { permissionMode: "plan" }).names).toEqual([
      "WebSearch",
      "Read",
      "Glob",
      "Grep",
    ]);
  });

  test("omit file tools without a workspace", () => {
    expect(createTools(everything, { workspace: null }).names).toEqual(["WebSearch", "Bash"]);
  });
});

describe("NativeTools.findApproval()", () => {
  const needsApproval = () => true;
  const asking = [
    shellTool({}, { name: "bash", needsApproval }),
    applyPatchTool({}, { needsApproval }),
    ...createFileTools(),
  ];
  const find = (name: string, input: object, tools: readonly HostedTool[] = asking) =>
    createTools(tools).findApproval({ name, input: { ...input } });

  test.each([
    ["Bash", { command: "rm -r a", description: "x" }, "bash", { commands: ["rm -r a"] }],
    [
      "Write",
      { file_path: "a.txt", content: "one\ntwo" },
      "apply_patch",
      { operation: "create", path: "a.txt", diff: "+one\n+two\n" },
    ],
    [
      "Edit",
      { file_path: "a.txt", old_string: "one", new_string: "two" },
      "apply_patch",
      { operation: "update", path: "a.txt", diff: "-one\n+two\n" },
    ],
    [
      "Edit",
      { file_path: "a.txt", old_string: "one", new_string: "", replace_all: true },
      "apply_patch",
      { operation: "update", path: "a.txt", diff: "-one\n+\n", replaceAll: true },
    ],
  ])(
    "returns the call of the hosted tool that owns %s, with all it changes",
    (name, input, owner, params) => {
      expect(find(name, input)).toEqual({ name: owner, params, needsApproval, isRepeated: true });
    },
  );

  test.each(["Read", "Glob", "Grep", "WebSearch", "NotebookEdit"])(
    "returns null for %s",
    (name) => {
      expect(find(name, { file_path: "a.txt" })).toBeNull();
    },
  );

  test("returns null if the owner needs no approval, and asks any owner that does", () => {
    const input = { command: "ls" };
    expect(find("Bash", input, everything)).toBeNull();
    const both = [codeInterpreterTool(), shellTool({}, { needsApproval: true })];
    expect(find("Bash", input, both)).toMatchObject({ name: "shell", needsApproval: true });
  });
});

describe("NativeTools.findReported()", () => {
  test.each([
    ["Bash", { kind: "shell", codeField: "command" }],
    ["Write", { kind: "apply_patch", codeField: "content" }],
    ["Edit", { kind: "apply_patch", codeField: "new_string" }],
    ["Read", { kind: "claude_read", codeField: undefined }],
    ["WebSearch", { kind: "web_search", codeField: undefined }],
    ["NotebookEdit", null],
  ])("returns the kind and the field with code of %s", (name, reported) => {
    expect(createTools(everything).findReported(name)).toEqual(reported);
  });

  test("returns null for a tool whose section is closed", () => {
    const native = createTools(everything);
    native.setHostedTools([webSearchTool()]);
    expect(native.findReported("Bash")).toBeNull();
  });
});

describe("hasSucceeded()", () => {
  const search = { ...ended, name: "WebSearch", input: { query: "owls" } };

  test("is false for calls that failed, were interrupted or found an error", () => {
    const call = { ...ended, name: "Bash", input: {} };
    expect(hasSucceeded(call)).toBe(true);
    expect(hasSucceeded({ ...call, error: "exit code 1" })).toBe(false);
    expect(hasSucceeded({ ...call, response: { interrupted: true } })).toBe(false);
    expect(hasSucceeded(search)).toBe(true);
    const response = { results: ["Web search error: unavailable"] };
    expect(hasSucceeded({ ...search, response })).toBe(false);
  });
});

describe("NativeTools.beforeCall()", () => {
  const native = createTools(everything);

  test.each(["NotebookEdit", "WebFetch", "Task", "read", ""])(
    "denies the unknown tool %j",
    async (name) => {
      expect(await native.beforeCall({ name, input: {} })).toEqual({
        denied: `${name} is not available now`,
      });
    },
  );

  test("denies and does not report calls to a tool that the prompt no longer has", async () => {
    const native = createTools([webSearchTool(), shellTool()]);
    native.setHostedTools([shellTool()]);
    expect(native.isEnabled("WebSearch")).toBe(true);
    expect(await native.beforeCall({ name: "WebSearch", input: { query: "owls" } })).toHaveProperty(
      "denied",
    );
    expect(native.toHostedCall({ ...ended, name: "WebSearch", input: {} })).toBeNull();
    native.setHostedTools([webSearchTool(), shellTool()]);
    expect(await native.beforeCall({ name: "WebSearch", input: { query: "owls" } })).toEqual({
      input: { query: "owls" },
    });
  });

  test.each([
    [{ command: "ls" }, null],
    [{ command: "ls", timeout: 5, description: "x", run_in_background: false }, null],
    [{ command: "ls", dangerouslyDisableSandbox: false }, null],
    [{ command: "ls", run_in_background: true }, "in the background"],
    [{ command: "ls", run_in_background: "true" }, "in the background"],
    [{ command: "ls", dangerouslyDisableSandbox: true }, "leave the sandbox"],
    [{ command: "ls", dangerouslyDisableSandbox: 1 }, "leave the sandbox"],
  ])("denies background and unsandboxed commands: %j", async (input, problem) => {
    expect(await native.beforeCall({ name: "Bash", input })).toEqual(
      problem === null ? { input } : { denied: expect.stringContaining(problem) },
    );
  });

  test("limits file tools to the workspace and readable folders", async () => {
    const file_path = join(workspace, "a.txt");
    expect(await native.beforeCall({ name: "Read", input: { file_path: "a.txt" } })).toEqual({
      input: { file_path },
    });
    for (const name of ["Read", "Write", "Edit"]) {
      for (const path of ["/etc/passwd", "link/passwd", "../x", "~/x"]) {
        expect(await native.beforeCall({ name, input: { file_path: path } })).toHaveProperty(
          "denied",
        );
      }
    }
    const glob = { name: "Glob", input: { pattern: "*" } };
    expect(await native.beforeCall(glob)).toEqual({ input: { pattern: "*", path: workspace } });
    expect(await native.beforeCall({ ...glob, cwd: "/etc" })).toHaveProperty("denied");
    const open = createTools(everything, { readable: ["/etc"] });
    expect(await open.beforeCall({ name: "Read", input: { file_path: "/etc/x" } })).toEqual({
      input: { file_path: "/etc/x" },
    });
  });

  test("limits searches to the tool's domains", async () => {
    const filtered = createTools([webSearchTool({ domainFilter: { allowed: ["cdc.gov"] } })]);
    const search = (input: object) =>
      filtered.beforeCall({ name: "WebSearch", input: { query: "flu", ...input } });
    expect(await search({})).toEqual({ input: { query: "flu", allowed_domains: ["cdc.gov"] } });
    expect(await search({ allowed_domains: ["evil.com"] })).toHaveProperty("denied");
    const domainFilter = { allowed: ["cdc.gov"], blocked: ["a.cdc.gov"] };
    const conflicting = createTools([webSearchTool({ domainFilter })]);
    expect(await conflicting.beforeCall({ name: "WebSearch", input: { query: "flu" } })).toEqual({
      denied: "Web search is not available: the allowed and blocked domains conflict",
    });
  });
});

describe("NativeTools.toHostedCall()", () => {
  test("returns a call to the prompt's tool with the SDK's response", () => {
    const native = createTools([shellTool({}, { name: "sh" }), codeInterpreterTool()]);
    const input = { command: "ls", description: "Lists" };
    const response = { stdout: "a.txt", stderr: "", interrupted: false };
    expect(native.toHostedCall({ ...ended, name: "Bash", input, response })).toEqual({
      name: "sh",
      kind: "shell",
      callId: "toolu_1",
      params: input,
      output: null,
      success: true,
      message: "a.txt",
      raw: { type: "tool_use", id: "toolu_1", name: "Bash", input, response },
    });
  });

  test("reports failed, denied and interrupted calls as not successful", () => {
    const native = createTools(everything);
    const error = "<tool_use_error>String to replace not found in file.</tool_use_error>";
    expect(native.toHostedCall({ ...ended, name: "Edit", input: {}, error })).toMatchObject({
      name: "apply_patch",
      kind: "apply_patch",
      success: false,
      message: "String to replace not found in file.",
      raw: { error, response: null },
    });
    const response = { stdout: "", stderr: "", interrupted: true };
    expect(native.toHostedCall({ ...ended, name: "Bash", input: {}, response })).toMatchObject({
      success: false,
      message: "The command was interrupted",
    });
  });

  test("returns null for a disabled tool", () => {
    expect(createTools([]).toHostedCall({ ...ended, name: "Read", input: {} })).toBeNull();
  });
});

describe("web searches in NativeTools", () => {
  const response = {
    query: "owls",
    results: [{ tool_use_id: "s", content: [{ title: "Owls", url: "https://example.com/owls" }] }],
    durationSeconds: 0.1,
    searchCount: 1,
  };
  const text = "See [Owls](https://example.com/owls).";
  const citation = { type: "url", span: [4, 36], url: "https://example.com/owls", title: "Owls" };

  test("produce typed output for each call and for all calls, and citations", () => {
    const native = createTools([webSearchTool({}, { name: "lookup" })]);
    expect([...native.listHostedOutputs(text)]).toEqual([]);
    expect(native.findCitations(text)).toEqual([]);
    const input = { query: "owls" };
    const search = { id: "toolu_1", action: "search", queries: ["owls"], url: null };
    const call = native.toHostedCall({ ...ended, name: "WebSearch", input, response });
    expect(call).toEqual({
      name: "lookup",
      kind: "web_search",
      callId: "toolu_1",
      params: { action: "search", query: "owls", queries: ["owls"] },
      output: {
        text: "",
        citations: [],
        sourceUrls: ["https://example.com/owls"],
        searches: [{ ...search, status: "completed" }],
      },
      success: true,
      message: "Searched: owls",
      raw: { type: "tool_use", id: "toolu_1", name: "WebSearch", input, response },
    });
    native.toHostedCall({ ...ended, id: "toolu_2", name: "WebSearch", input, error: "denied" });
    expect([...native.listHostedOutputs(text)]).toEqual([
      [
        "lookup",
        {
          text,
          citations: [citation],
          sourceUrls: ["https://example.com/owls"],
          searches: [
            { ...search, status: "completed" },
            { ...search, id: "toolu_2", status: "failed" },
          ],
        },
      ],
    ]);
    expect(native.findCitations(text)).toEqual([citation]);
  });

  test("of an interrupted evaluation are part of the outputs, and foreign calls are not", () => {
    const tools = [webSearchTool()];
    const before = createTools(tools);
    const use = { ...ended, name: "WebSearch", input: { query: "owls" } };
    const calls = [
      before.toHostedCall({ ...use, response }),
      before.toHostedCall({ ...use, id: "toolu_2", error: "denied" }),
    ].flatMap((call) => call ?? []);
    expect(calls).toHaveLength(2);
    const [call] = calls;
    const foreign = [null, "text", [], { type: "tool_use" }].map((raw) => ({ ...call, raw }));
    const resumed = createTools(tools);
    resumed.replay(JSON.parse(JSON.stringify([...calls, ...foreign])));
    expect([...resumed.listHostedOutputs(text)]).toEqual([...before.listHostedOutputs(text)]);
    expect(resumed.findCitations(text)).toEqual([citation]);
  });
});

describe("listUndisclosedTools()", () => {
  const text = { title: "Title", template: "Text." };
  const child = new MarkdownSection({ key: "search", ...text, hostedTools: [webSearchTool()] });
  const summarized = new MarkdownSection({
    ...{ key: "lab", ...text, summary: "In short.", visibility: "summary" },
    hostedTools: [shellTool()],
    children: [child],
  });
  const open = new MarkdownSection({ key: "open", ...text, hostedTools: [applyPatchTool()] });
  const sections = [open, summarized];
  const prompt = new Prompt(new PromptTemplate({ ns: "n", key: "k", sections }));
  const listNames = (allowed?: boolean | readonly string[]) =>
    listUndisclosedTools(prompt, allowed).map(({ name }) => name);

  test("lists the tools of summarized sections and their children", () => {
    expect(listNames()).toEqual(["shell", "web_search"]);
    expect(listNames(true)).toEqual(["shell", "web_search"]);
  });

  test.each([
    [false, []],
    [["shell"], ["shell"]],
    [["web_search", "apply_patch"], ["web_search"]],
    [[], []],
  ])("lists only the allowed tools %j", (allowed, names) => {
    expect(listNames(allowed)).toEqual(names);
  });
});
