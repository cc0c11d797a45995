import { describe, expect, test } from "vitest";
import * as z from "zod";
import { promptWith, type RunOptions, runOn } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { fileSearchTool } from "../../tools/hosted/file-search.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool, type HostedToolOptions } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";

const hosted = (more: Partial<HostedToolOptions<object, unknown>>) =>
  new HostedTool({ kind: "web_search", name: "tool", description: "A tool.", config: {}, ...more });

const native = (name: string, fields: z.ZodRawShape = {}) =>
  new NativeTool({
    name,
    description: "A native tool.",
    params: z.object(fields),
    result: z.object({}),
  });

const mcp = (serverLabel: string, name: string) =>
  mcpTool({ serverLabel, serverUrl: "https://mcp.example.com" }, { name });

/** What an evaluation that must not send anything throws. */
async function refusal(options: RunOptions) {
  const { error, requests } = await runOn([[message("never")]], options);
  expect(requests).toEqual([]);
  return error;
}

describe("refused before any byte is sent:", () => {
  test("a kind that no codec knows, in phase render", async () => {
    const prompt = promptWith({ hostedTools: [hosted({ kind: "web_serch", name: "find" })] });
    expect(await refusal({ prompt })).toMatchObject({
      name: "PromptEvaluationError",
      phase: "render",
      promptName: "test:run",
      message: `Unsupported hosted tool kind 'web_serch' for openai adapter: did you mean "web_search"?`,
    });
    const far = promptWith({ hostedTools: [hosted({ kind: "telepathy" })] });
    expect((await refusal({ prompt: far }))?.message).toContain('there are "web_search"');
  });

  test("another provider's tool", async () => {
    const prompt = promptWith({ hostedTools: [hosted({ provider: "other" })] });
    expect(await refusal({ prompt })).toMatchObject({ phase: "request" });
  });

  test("what the model cannot run", async () => {
    const prompt = promptWith({ hostedTools: [applyPatchTool()] });
    const error = await refusal({ prompt, adapter: { model: "gpt-4o-mini" } });
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(error?.message).toMatch(/"apply_patch" cannot be used: .*gpt-4o/);
  });

  test("two tools of a kind that the wire cannot tell apart, in phase render", async () => {
    const hostedTools = [webSearchTool(), webSearchTool({}, { name: "cached" })];
    const error = await refusal({ prompt: promptWith({ hostedTools }) });
    expect(error).toMatchObject({ phase: "render" });
    expect(error?.message).toContain('two hosted tools of kind "web_search"');
  });

  test("two MCP servers of one label", async () => {
    const prompt = promptWith({ hostedTools: [mcp("docs", "one"), mcp("docs", "two")] });
    expect(await refusal({ prompt })).toMatchObject({ phase: "render" });
  });

  test("a file search without stores", async () => {
    const prompt = promptWith({ hostedTools: [fileSearchTool({ vectorStoreIds: [] })] });
    const error = await refusal({ prompt });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("vectorStoreIds");
  });

  test("files of the host in a code interpreter's container", async () => {
    const container = { type: "auto", hostMounts: [{ hostPath: "/data" }] } as const;
    const prompt = promptWith({ hostedTools: [codeInterpreterTool({ container })] });
    expect((await refusal({ prompt }))?.message).toContain("hostMounts");
  });

  test("a native tool whose params the provider never gives", async () => {
    const prompt = promptWith({ tools: [native("web_search", { sql: z.string() })] });
    const error = await refusal({ prompt });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("sql");
  });

  test("a native tool that only the client could run", async () => {
    const prompt = promptWith({ tools: [native("apply_patch")] });
    expect((await refusal({ prompt }))?.message).toContain("applyPatchTool");
  });

  test.each<readonly [string, unknown]>([
    ["built_in", { type: "built_in", name: "tool" }],
    ["a function", { type: "function", name: "tool" }],
    ["with parameters", { type: "tool", parameters: {} }],
    ["with strict", { type: "tool", strict: true }],
    ["without a type", {}],
    ["nothing", null],
  ])("what a codec made is %s", async (_, made) => {
    const codec = { kind: "web_search", serialize: () => made, parseOutput: () => null };
    const hostedToolCodecs = [codec as unknown as HostedToolCodec];
    const prompt = promptWith({ hostedTools: [webSearchTool()] });
    const error = await refusal({ prompt, adapter: { hostedToolCodecs } });
    expect(error?.message).toContain("must be an entry of the provider's own");
  });

  test("what a codec could not make", async () => {
    const codec: HostedToolCodec = {
      kind: "web_search",
      parseOutput: () => null,
      serialize: () => {
        throw new TypeError("no such field");
      },
    };
    const prompt = promptWith({ hostedTools: [webSearchTool()] });
    const error = await refusal({ prompt, adapter: { hostedToolCodecs: [codec] } });
    expect(error).toMatchObject({ phase: "request" });
    expect(error?.message).toContain("could not serialise");
  });
});

test("two MCP servers of different labels stand side by side", async () => {
  const prompt = promptWith({ hostedTools: [mcp("docs", "one"), mcp("code", "two")] });
  const { bodies, error } = await runOn([[message("Hi.")]], { prompt });
  expect(error).toBeNull();
  expect(bodies[0]?.["tools"]).toMatchObject([{ server_label: "docs" }, { server_label: "code" }]);
});

describe('with unsupportedHostedTools "omit"', () => {
  const adapter = { unsupportedHostedTools: "omit", model: "gpt-4o" } as const;

  test("what cannot be run is left out, with an event that says why", async () => {
    const hostedTools = [applyPatchTool(), webSearchTool(), hosted({ kind: "telepathy" })];
    const { bodies, bus } = await runOn([[message("Hi.")]], {
      prompt: promptWith({ hostedTools }),
      adapter,
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search" }]);
    expect(bus.of("HostedToolOmitted").map(({ name }) => name)).toEqual(["apply_patch", "tool"]);
    expect(bus.of("HostedToolOmitted")[0]?.reason).toContain("gpt-4o");
    expect(bus.of("HostedToolOmitted")[1]?.reason).toContain("telepathy");
  });

  test("a request without any tool has neither tools nor a choice", async () => {
    const prompt = promptWith({ hostedTools: [applyPatchTool()] });
    const { bodies } = await runOn([[message("Hi.")]], { prompt, adapter });
    expect(Object.keys(bodies[0] ?? {}).sort()).toEqual(["input", "model"]);
  });

  test("another provider's tool is refused all the same", async () => {
    const prompt = promptWith({ hostedTools: [hosted({ provider: "other" })] });
    expect(await refusal({ prompt, adapter })).toMatchObject({ phase: "request" });
  });
});

test("a caller's table of models goes over the default one", async () => {
  const prompt = promptWith({ hostedTools: [applyPatchTool(), webSearchTool()] });
  const nativeTools = { "gpt-4o": ["apply_patch", "web_search"], "gpt-9": ["web_search"] };
  const able = await runOn([[message("Hi.")]], {
    prompt,
    adapter: { model: "gpt-4o", nativeTools },
  });
  expect(able.error).toBeNull();
  const error = await refusal({ prompt, adapter: { model: "gpt-9-mini", nativeTools } });
  expect(error?.message).toContain("gpt-9");
});
