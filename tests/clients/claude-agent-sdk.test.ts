import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { ANSWER, ANSWER_SCHEMA, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { createTemporaryFolder, type Script, type ServeOptions, serve } from "./support/serve.ts";

interface Claude {
  readonly folder: string;
  /** Runs a query and returns its messages. */
  ask(prompt: Parameters<typeof query>[0]["prompt"], options?: Options): Promise<Messages>;
}

type Messages = readonly { readonly type: string; readonly [key: string]: unknown }[];

/** Starts a provider and a client whose every request goes to it. */
async function start(
  script: Script,
  { files, ...more }: ServeOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Claude> {
  const { anthropicUrl } = await serve(script, more);
  const [home, folder] = [await createTemporaryFolder(), await createTemporaryFolder(files)];
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: anthropicUrl,
    ANTHROPIC_API_KEY: "local",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
  };
  return {
    folder,
    async ask(prompt, options = {}) {
      const messages: Messages[number][] = [];
      const settings: Options = { settingSources: [], permissionMode: "dontAsk" };
      const run = query({ prompt, options: { ...settings, cwd: folder, env, ...options } });
      for await (const message of run) messages.push({ ...message });
      return messages;
    },
  };
}

/** Returns the message at the end of a query. */
function readResult(messages: Messages): Messages[number] {
  const result = messages.at(-1);
  if (result?.type !== "result") throw new Error(`There is no result: ${JSON.stringify(messages)}`);
  return result;
}

function createLook(asked: unknown[]) {
  const look = tool("look", "Looks.", { at: z.string() }, async (args) => {
    asked.push(args);
    return { content: [{ type: "text", text: "Six." }] };
  });
  const owls = createSdkMcpServer({ name: "owls", version: "1.0.0", tools: [look] });
  return { mcpServers: { owls }, allowedTools: ["mcp__owls__look"] };
}

describeClient("@anthropic-ai/claude-agent-sdk", {
  async "plain turn"() {
    const claude = await start([[{ say: "Hello." }]]);
    expect(readResult(await claude.ask("Hi."))).toMatchObject({ result: "Hello." });
  },

  async streaming() {
    const claude = await start([[{ say: "Hello, owls." }]]);
    const messages = await claude.ask("Hi.", { includePartialMessages: true });
    expect(messages.map(({ type }) => type)).toContain("stream_event");
    expect(readResult(messages)).toMatchObject({ result: "Hello, owls." });
  },

  async "function calls, several at once"() {
    const claude = await start(TWO_CALLS);
    const asked: unknown[] = [];
    const options = { ...createLook(asked), tools: [] };
    const messages = await claude.ask("How many?", options);
    expect(readResult(messages)).toMatchObject({ result: "Twelve owls." });
    expect(asked).toEqual([{ at: "barn" }, { at: "tree" }]);
  },

  async "structured output"() {
    const claude = await start([[{ say: ANSWER }], [{ say: "Done." }]]);
    const outputFormat = { type: "json_schema" as const, schema: { ...ANSWER_SCHEMA } };
    const messages = await claude.ask("How many?", { outputFormat });
    expect(readResult(messages)).toMatchObject({ structured_output: ANSWER });
  },

  async "web search"() {
    const claude = await start([[{ search: { web: "owls" } }], [{ say: "Barns." }]], {
      pages: PAGES,
    });
    const messages = await claude.ask("Where?", { allowedTools: ["WebSearch"] });
    expect(JSON.stringify(messages)).toContain("https://owls.example/barn");
    expect(readResult(messages)).toMatchObject({ result: "Barns." });
  },

  async "tool search"() {
    const claude = await start([
      [{ call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Six owls." }],
    ]);
    const asked: unknown[] = [];
    const messages = await claude.ask("How many?", createLook(asked));
    expect(JSON.stringify(messages)).toContain("ToolSearch");
    expect(readResult(messages)).toMatchObject({ result: "Six owls." });
    expect(asked).toEqual([{ at: "barn" }]);
  },

  async "image input"() {
    const claude = await start([[{ say: "An image." }]]);
    const data = PIXEL.replace(/^.*,/, "");
    const source = { type: "base64", media_type: "image/png", data } as const;
    async function* createMessages() {
      yield {
        type: "user" as const,
        parent_tool_use_id: null,
        message: { role: "user" as const, content: [{ type: "image" as const, source }] },
      };
    }
    const messages = await claude.ask(createMessages());
    expect(readResult(messages)).toMatchObject({ result: "An image." });
  },

  async "continuing an earlier turn"() {
    const claude = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const first = readResult(await claude.ask("Who are you?"));
    const messages = await claude.ask("Again?", { resume: String(first["session_id"]) });
    expect(readResult(messages)).toMatchObject({ result: "Ada." });
  },

  async "errors and retries"() {
    const overloaded = { status: 529, message: "Overloaded." };
    const wrong = { status: 400, message: "Not like this." };
    // The client tries a rejected request in several ways.
    const failures = Array.from({ length: 10 }, () => [{ fail: wrong }]);
    const claude = await start([[{ fail: overloaded }], [{ say: "Hello." }], ...failures]);
    expect(readResult(await claude.ask("Hi."))).toMatchObject({ result: "Hello." });
    const [done] = await Promise.allSettled([claude.ask("Hi.")]);
    const shown = done.status === "fulfilled" ? done.value : String(done.reason);
    expect(JSON.stringify(shown)).toContain("Not like this.");
  },
});
