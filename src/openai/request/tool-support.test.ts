import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createTaskPrompt, type RunOptions, runScript } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { fileSearchTool } from "../../tools/hosted/file-search.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool, type HostedToolOptions } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";

const createHostedTool = (more: Partial<HostedToolOptions<object, unknown>>) =>
  new HostedTool({ kind: "web_search", name: "tool", description: "A tool.", config: {}, ...more });

const createNativeTool = (name: string, fields: z.ZodRawShape = {}) =>
  new NativeTool({
    name,
    description: "A native tool.",
    params: z.object(fields),
    result: z.object({}),
  });

const createMcpTool = (serverLabel: string, name: string) =>
  mcpTool({ serverLabel, serverUrl: "https://mcp.example.com" }, { name });

/** Returns the error of an evaluation that must not send a request. */
async function getRejection(options: RunOptions) {
  const { error, requests } = await runScript([[message("never")]], options);
  expect(requests).toEqual([]);
  return error;
}

describe("evaluate() rejects before any request", () => {
  test("a kind without a codec, in phase render", async () => {
    const prompt = createTaskPrompt({
      hostedTools: [createHostedTool({ kind: "web_serch", name: "find" })],
    });
    expect(await getRejection({ prompt })).toMatchObject({
      name: "PromptEvaluationError",
      phase: "render",
      promptName: "test:run",
      message: `Unsupported hosted tool kind 'web_serch' for openai adapter: did you mean "web_search"?`,
    });
    const far = createTaskPrompt({ hostedTools: [createHostedTool({ kind: "telepathy" })] });
    expect((await getRejection({ prompt: far }))?.message).toContain('use one of "web_search"');
  });

  test("another provider's tool", async () => {
    const prompt = createTaskPrompt({ hostedTools: [createHostedTool({ provider: "other" })] });
    expect(await getRejection({ prompt })).toMatchObject({ phase: "request" });
  });

  test("a tool that the model does not support", async () => {
    const prompt = createTaskPrompt({ hostedTools: [applyPatchTool()] });
    const error = await getRejection({ prompt, adapter: { model: "gpt-4o-mini" } });
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(error?.message).toMatch(/"apply_patch" cannot be used: .*gpt-4o/);
  });

  test("a patch tool without files to patch", async () => {
    const prompt = createTaskPrompt({ hostedTools: [applyPatchTool({}, { name: "patch" })] });
    const error = await getRejection({ prompt });
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(error?.message).toBe(
      'Hosted tool "patch" filesystem must be a Filesystem if the prompt has no workspace, got null. Create the tool with applyPatchTool(config, { filesystem }), or add a workspace section.',
    );
  });

  test("two tools with the same kind and no label, in phase render", async () => {
    const hostedTools = [webSearchTool(), webSearchTool({}, { name: "cached" })];
    const error = await getRejection({ prompt: createTaskPrompt({ hostedTools }) });
    expect(error).toMatchObject({ phase: "render" });
    expect(error?.message).toContain('are both of kind "web_search"');
  });

  test("two MCP servers with the same label", async () => {
    const prompt = createTaskPrompt({
      hostedTools: [createMcpTool("docs", "one"), createMcpTool("docs", "two")],
    });
    expect(await getRejection({ prompt })).toMatchObject({ phase: "render" });
  });

  test("a file search without stores", async () => {
    const prompt = createTaskPrompt({ hostedTools: [fileSearchTool({ vectorStoreIds: [] })] });
    const error = await getRejection({ prompt });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("vectorStoreIds");
  });

  test("host mounts without allowed roots in a code interpreter's container", async () => {
    const container = { type: "auto", hostMounts: [{ hostPath: "/data" }] } as const;
    const prompt = createTaskPrompt({ hostedTools: [codeInterpreterTool({ container })] });
    expect((await getRejection({ prompt }))?.message).toContain("hostMounts");
  });

  test("a native tool whose params the provider never sends", async () => {
    const prompt = createTaskPrompt({
      tools: [createNativeTool("web_search", { sql: z.string() })],
    });
    const error = await getRejection({ prompt });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("sql");
  });

  test("a native tool that only the client can run", async () => {
    const prompt = createTaskPrompt({ tools: [createNativeTool("apply_patch")] });
    expect((await getRejection({ prompt }))?.message).toContain("applyPatchTool");
  });

  test.each<readonly [string, unknown]>([
    ["built_in", { type: "built_in", name: "tool" }],
    ["a function", { type: "function", name: "tool" }],
    ["with parameters", { type: "tool", parameters: {} }],
    ["with strict", { type: "tool", strict: true }],
    ["without a type", {}],
    ["nothing", null],
  ])("a codec's entry that is %s", async (_, made) => {
    const codec = { kind: "web_search", serialize: () => made, parseOutput: () => null };
    const hostedToolCodecs = [codec as unknown as HostedToolCodec];
    const prompt = createTaskPrompt({ hostedTools: [webSearchTool()] });
    const error = await getRejection({ prompt, adapter: { hostedToolCodecs } });
    expect(error?.message).toContain("must be a hosted tool of the provider");
  });

  test("a codec that throws", async () => {
    const codec: HostedToolCodec = {
      kind: "web_search",
      parseOutput: () => null,
      serialize: () => {
        throw new TypeError("no such field");
      },
    };
    const prompt = createTaskPrompt({ hostedTools: [webSearchTool()] });
    const error = await getRejection({ prompt, adapter: { hostedToolCodecs: [codec] } });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("could not serialize");
  });
});

test("two MCP servers with different labels can be combined", async () => {
  const prompt = createTaskPrompt({
    hostedTools: [createMcpTool("docs", "one"), createMcpTool("code", "two")],
  });
  const { bodies, error } = await runScript([[message("Hi.")]], { prompt });
  expect(error).toBeNull();
  expect(bodies[0]?.["tools"]).toMatchObject([{ server_label: "docs" }, { server_label: "code" }]);
});

describe('with unsupportedHostedTools "omit"', () => {
  const adapter = { unsupportedHostedTools: "omit", model: "gpt-4o" } as const;

  test("unsupported tools are omitted, with an event that gives the reason", async () => {
    const hostedTools = [
      applyPatchTool(),
      webSearchTool(),
      createHostedTool({ kind: "telepathy" }),
    ];
    const { bodies, bus } = await runScript([[message("Hi.")]], {
      prompt: createTaskPrompt({ hostedTools }),
      adapter,
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search" }]);
    expect(bus.of("HostedToolOmitted").map(({ name }) => name)).toEqual(["apply_patch", "tool"]);
    expect(bus.of("HostedToolOmitted")[0]?.reason).toContain("gpt-4o");
    expect(bus.of("HostedToolOmitted")[1]?.reason).toContain("telepathy");
  });

  test("a request without tools has neither tools nor tool_choice", async () => {
    const prompt = createTaskPrompt({ hostedTools: [applyPatchTool()] });
    const buffered = { ...adapter, delivery: "buffered" } as const;
    const { bodies } = await runScript([[message("Hi.")]], { prompt, adapter: buffered });
    expect(Object.keys(bodies[0] ?? {}).sort()).toEqual(["input", "model"]);
  });

  test("another provider's tool is still rejected", async () => {
    const prompt = createTaskPrompt({ hostedTools: [createHostedTool({ provider: "other" })] });
    expect(await getRejection({ prompt, adapter })).toMatchObject({ phase: "request" });
  });
});

test("the nativeTools option overrides the default table", async () => {
  const prompt = createTaskPrompt({
    hostedTools: [applyPatchTool({}, { filesystem: new InMemoryFilesystem() }), webSearchTool()],
  });
  const nativeTools = { "gpt-4o": ["apply_patch", "web_search"], "gpt-9": ["web_search"] };
  const able = await runScript([[message("Hi.")]], {
    prompt,
    adapter: { model: "gpt-4o", nativeTools },
  });
  expect(able.error).toBeNull();
  const error = await getRejection({ prompt, adapter: { model: "gpt-9-mini", nativeTools } });
  expect(error?.message).toContain("gpt-9");
});
