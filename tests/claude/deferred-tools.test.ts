import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { readRecords } from "../../src/base/json.ts";
import { LocalProvider, type ModelScript, scriptedModel } from "../../src/local/index.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

/** The part of the Claude Agent SDK that this test uses directly, as other software does. */
interface AgentSdk {
  query(request: { readonly prompt: string; readonly options: WireItem }): AsyncIterable<WireItem>;
  tool(name: string, description: string, schema: object, run: (args: never) => unknown): object;
  createSdkMcpServer(options: WireItem): object;
}

const night = "https://owls.example/night";

/** Runs the SDK with its default settings, with an MCP server of one tool, on a local provider with pages. */
async function runAgent(script: ModelScript, allowedTools: readonly string[]) {
  const name = "@anthropic-ai/claude-agent-sdk";
  const sdk: AgentSdk = await import(name);
  const added: unknown[] = [];
  const add = sdk.tool("add", "Adds two numbers.", { a: z.number(), b: z.number() }, (args) => {
    added.push(args);
    return { content: [{ type: "text", text: "3" }] };
  });
  const pages = {
    "pages.json": JSON.stringify({ "a.md": night }),
    "a.md": "# Night\nOwls hunt at night.",
  };
  const provider = new LocalProvider({ model: scriptedModel(script), web: temporaryTree(pages) });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const home = temporaryTree({ "work/a.txt": "" });
  const options = {
    model: "claude-any",
    cwd: `${home}/work`,
    mcpServers: { mine: sdk.createSdkMcpServer({ name: "mine", version: "1.0.0", tools: [add] }) },
    allowedTools,
    settingSources: [],
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""),
      ANTHROPIC_API_KEY: "any",
    },
  };
  const messages: WireItem[] = [];
  for await (const message of sdk.query({ prompt: "Add.", options })) messages.push(message);
  const uses = messages
    .filter(({ type }) => type === "assistant")
    .flatMap(({ message }) => readRecords({ ...Object(message) }, "content"))
    .filter(({ type }) => type === "tool_use");
  return { added, uses: uses.map(({ name: used, input }) => ({ name: used, input })), messages };
}

describe.skipIf(sdkMissing)("The Claude Agent SDK used directly, with its tool search", () => {
  test(
    "loads an MCP tool that a script calls by its short name",
    async () => {
      const call = { call: { name: "add", args: { a: 1, b: 2 } } };
      const { added, uses, messages } = await runAgent(
        [[call], [{ say: "Three." }]],
        ["mcp__mine__add"],
      );
      expect(uses).toEqual([
        { name: "ToolSearch", input: { query: "select:mcp__mine__add", max_results: 1 } },
        { name: "mcp__mine__add", input: { a: 1, b: 2 } },
      ]);
      expect(added).toEqual([{ a: 1, b: 2 }]);
      expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "Three." });
    },
    SDK_TIMEOUT,
  );

  test(
    "loads WebSearch for a script that searches the web",
    async () => {
      const { uses, messages } = await runAgent(
        [[{ search: { web: "owls" } }, { say: "At night." }]],
        ["WebSearch"],
      );
      expect(uses).toMatchObject([{ name: "ToolSearch" }, { name: "WebSearch" }]);
      expect(JSON.stringify(messages)).toContain(night);
      expect(messages.at(-1)).toMatchObject({ subtype: "success", result: "At night." });
    },
    SDK_TIMEOUT,
  );
});
