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
import { fileTools } from "./file-tools.ts";
import { NativeTools, undisclosedTools } from "./native-tools.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "native-")));
beforeAll(() => {
  writeFileSync(join(workspace, "a.txt"), "a");
  symlinkSync("/etc", join(workspace, "link"));
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const made = (hostedTools: readonly HostedTool[], options = {}) =>
  new NativeTools(hostedTools, { workspace, ...options });
const everything = [webSearchTool(), shellTool(), applyPatchTool(), ...fileTools()];
const ended = { id: "toolu_1", response: null, error: null };

describe("of the SDK's tools", () => {
  test.each([
    [[], []],
    [[fileSearchTool({ vectorStoreIds: [] })], []],
    [[webSearchTool()], ["WebSearch"]],
    [[shellTool(), codeInterpreterTool()], ["Bash"]],
    [[applyPatchTool()], ["Write", "Edit"]],
    [everything, ["WebSearch", "Bash", "Write", "Edit", "Read", "Glob", "Grep"]],
  ])("%j switch on %j", (hostedTools, names) => {
    const native = made(hostedTools);
    expect(native.names).toEqual(names);
    expect(names.every((name) => native.isOn(name))).toBe(true);
    expect(native.isOn("NotebookEdit")).toBe(false);
  });

  test("only those that read are on where plans are made", () => {
    expect(made(everything, { permissionMode: "plan" }).names).toEqual([
      "WebSearch",
      "Read",
      "Glob",
      "Grep",
    ]);
  });

  test("those for files are off where there is no workspace", () => {
    expect(made(everything, { workspace: null }).names).toEqual(["WebSearch", "Bash"]);
  });
});

describe("before a call", () => {
  const native = made(everything);

  test.each(["NotebookEdit", "WebFetch", "Task", "read", ""])(
    "of %j it is denied",
    async (name) => {
      expect(await native.before({ name, input: {} })).toEqual({
        denied: `${name} is not open to you now`,
      });
    },
  );

  test("of a tool that the prompt has no more it is denied, and nothing is told of it", async () => {
    const closing = made([webSearchTool(), shellTool()]);
    closing.render([shellTool()]);
    expect(closing.isOn("WebSearch")).toBe(true);
    expect(await closing.before({ name: "WebSearch", input: { query: "owls" } })).toHaveProperty(
      "denied",
    );
    expect(closing.hostedCall({ ...ended, name: "WebSearch", input: {} })).toBeNull();
    closing.render([webSearchTool(), shellTool()]);
    expect(await closing.before({ name: "WebSearch", input: { query: "owls" } })).toEqual({
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
  ])("of the shell with %j it waits, and stays in its sandbox", async (input, problem) => {
    expect(await native.before({ name: "Bash", input })).toEqual(
      problem === null ? { input } : { denied: expect.stringContaining(problem) },
    );
  });

  test("of a file it stays in the workspace, from wherever the shell is", async () => {
    const file_path = join(workspace, "a.txt");
    expect(await native.before({ name: "Read", input: { file_path: "a.txt" } })).toEqual({
      input: { file_path },
    });
    for (const name of ["Read", "Write", "Edit"]) {
      for (const path of ["/etc/passwd", "link/passwd", "../x", "~/x"]) {
        expect(await native.before({ name, input: { file_path: path } })).toHaveProperty("denied");
      }
    }
    const glob = { name: "Glob", input: { pattern: "*" } };
    expect(await native.before(glob)).toEqual({ input: { pattern: "*", path: workspace } });
    expect(await native.before({ ...glob, cwd: "/etc" })).toHaveProperty("denied");
    const open = made(everything, { readable: ["/etc"] });
    expect(await open.before({ name: "Read", input: { file_path: "/etc/x" } })).toEqual({
      input: { file_path: "/etc/x" },
    });
  });

  test("of a search it keeps to the tool's domains", async () => {
    const only = made([webSearchTool({ domainFilter: { allowed: ["cdc.gov"] } })]);
    const search = (input: object) =>
      only.before({ name: "WebSearch", input: { query: "flu", ...input } });
    expect(await search({})).toEqual({ input: { query: "flu", allowed_domains: ["cdc.gov"] } });
    expect(await search({ allowed_domains: ["evil.com"] })).toHaveProperty("denied");
    const domainFilter = { allowed: ["cdc.gov"], blocked: ["a.cdc.gov"] };
    const none = made([webSearchTool({ domainFilter })]);
    expect(await none.before({ name: "WebSearch", input: { query: "flu" } })).toEqual({
      denied: "The web may not be searched: what is allowed is blocked",
    });
  });
});

describe("an ended call", () => {
  test("is one of the prompt's tool, with what the SDK said of it", () => {
    const native = made([shellTool({}, { name: "sh" }), codeInterpreterTool()]);
    const input = { command: "ls", description: "Lists" };
    const response = { stdout: "a.txt", stderr: "", interrupted: false };
    expect(native.hostedCall({ ...ended, name: "Bash", input, response })).toEqual({
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

  test("that failed, was denied or interrupted is no success", () => {
    const native = made(everything);
    const error = "<tool_use_error>String to replace not found in file.</tool_use_error>";
    expect(native.hostedCall({ ...ended, name: "Edit", input: {}, error })).toMatchObject({
      name: "apply_patch",
      kind: "apply_patch",
      success: false,
      message: "String to replace not found in file.",
      raw: { error, response: null },
    });
    const response = { stdout: "", stderr: "", interrupted: true };
    expect(native.hostedCall({ ...ended, name: "Bash", input: {}, response })).toMatchObject({
      success: false,
      message: "It was interrupted",
    });
  });

  test("of a tool that is not on is not told", () => {
    expect(made([]).hostedCall({ ...ended, name: "Read", input: {} })).toBeNull();
  });
});

describe("searches", () => {
  const response = {
    query: "owls",
    results: [{ tool_use_id: "s", content: [{ title: "Owls", url: "https://example.com/owls" }] }],
    durationSeconds: 0.1,
    searchCount: 1,
  };
  const text = "See [Owls](https://example.com/owls).";
  const citation = { type: "url", span: [4, 36], url: "https://example.com/owls", title: "Owls" };

  test("give typed output, call by call and over all of them, and citations", () => {
    const native = made([webSearchTool({}, { name: "lookup" })]);
    expect([...native.hostedOutputs(text)]).toEqual([]);
    expect(native.citations(text)).toEqual([]);
    const input = { query: "owls" };
    const search = { id: "toolu_1", action: "search", queries: ["owls"], url: null };
    const call = native.hostedCall({ ...ended, name: "WebSearch", input, response });
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
    native.hostedCall({ ...ended, id: "toolu_2", name: "WebSearch", input, error: "denied" });
    expect([...native.hostedOutputs(text)]).toEqual([
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
    expect(native.citations(text)).toEqual([citation]);
  });
});

describe("the hosted tools of a summarized section", () => {
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
  const namesOf = (allowed?: boolean | readonly string[]) =>
    undisclosedTools(prompt, allowed).map(({ name }) => name);

  test("are on from the start, with those below it and without those of other sections", () => {
    expect(namesOf()).toEqual(["shell", "web_search"]);
    expect(namesOf(true)).toEqual(["shell", "web_search"]);
  });

  test.each([
    [false, []],
    [["shell"], ["shell"]],
    [["web_search", "apply_patch"], ["web_search"]],
    [[], []],
  ])("are only those that are allowed: %j", (allowed, names) => {
    expect(namesOf(allowed)).toEqual(names);
  });
});
