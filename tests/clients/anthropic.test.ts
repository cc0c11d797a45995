import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { ANSWER, CODE, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { type Script, type ServeOptions, serve } from "./support/serve.ts";

const model = "claude-opus-5";
const ask = (content: string) => ({
  model,
  max_tokens: 1024,
  messages: [{ role: "user" as const, content }],
});

async function start(script: Script, options: ServeOptions = {}): Promise<Anthropic> {
  const { anthropicUrl } = await serve(script, options);
  return new Anthropic({ baseURL: anthropicUrl, apiKey: "local" });
}

function createLook(asked: unknown[]) {
  return betaZodTool({
    name: "look",
    description: "Looks.",
    inputSchema: z.object({ at: z.string() }),
    run: (args) => {
      asked.push(args);
      return "Six.";
    },
  });
}

describeClient("@anthropic-ai/sdk", {
  async "plain turn"() {
    const client = await start([[{ say: "Hello." }]]);
    const message = await client.messages.create(ask("Hi."));
    expect(message.content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(message.stop_reason).toBe("end_turn");
  },

  async streaming() {
    const client = await start([[{ say: "Hello, owls." }]]);
    const stream = client.messages.stream(ask("Hi."));
    let text = "";
    stream.on("text", (delta) => {
      text += delta;
    });
    expect([await stream.finalText(), text]).toEqual(["Hello, owls.", "Hello, owls."]);
  },

  async "function calls, several at once"() {
    const client = await start([...TWO_CALLS, ...TWO_CALLS]);
    for (const stream of [false, true]) {
      const asked: unknown[] = [];
      const runner = client.beta.messages.toolRunner({
        ...ask("How many?"),
        tools: [createLook(asked)],
        stream,
      });
      const message = await runner.runUntilDone();
      expect(message.content).toMatchObject([{ text: "Twelve owls." }]);
      expect(asked).toEqual([{ at: "barn" }, { at: "tree" }]);
    }
  },

  async "structured output"() {
    const client = await start([[{ say: ANSWER }]]);
    const format = zodOutputFormat(z.object({ animal: z.string(), count: z.int() }));
    const message = await client.messages.parse({ ...ask("How many?"), output_config: { format } });
    expect(message.parsed_output).toEqual(ANSWER);
  },

  async "code execution at the provider"() {
    const client = await start([[{ code: CODE }, { say: "42." }]]);
    const message = await client.messages.create({
      ...ask("Compute."),
      tools: [{ type: "code_execution_20250825", name: "code_execution" }],
    });
    expect(JSON.stringify(message.content)).toContain("42\\n");
    expect(message.container?.id).toEqual(expect.any(String));
    expect(message.content.at(-1)).toMatchObject({ text: "42." });
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const client = await start(script, { pages: PAGES });
    const message = await client.messages.create({
      ...ask("Where?"),
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    });
    expect(message.content.map(({ type }) => type)).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "text",
    ]);
    expect(JSON.stringify(message.content)).toContain("https://owls.example/barn");
  },

  async "tool search"() {
    const client = await start([[{ call: { name: "look", args: { at: "barn" } } }]]);
    const message = await client.messages.create({
      ...ask("How many?"),
      tools: [
        { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
        {
          name: "look",
          description: "Looks.",
          input_schema: { type: "object", properties: { at: { type: "string" } } },
          defer_loading: true,
        },
      ],
    });
    expect(message.content.at(-1)).toMatchObject({ type: "tool_use", name: "look" });
    expect(message.content.map(({ type }) => type)).toContain("tool_search_tool_result");
  },

  async "files of a container"() {
    const client = await start([[{ code: CODE }, { say: "Saved." }]]);
    const message = await client.beta.messages.create({
      ...ask("Save."),
      betas: ["code-execution-2025-08-25", "files-api-2025-04-14"],
      tools: [{ type: "code_execution_20250825", name: "code_execution" }],
    });
    const [, id = ""] = /"file_id":"([^"]+)"/.exec(JSON.stringify(message.content)) ?? [];
    expect(await (await client.beta.files.download(id)).text()).toBe("12");
  },

  async "file input"() {
    const client = await start([[{ code: "print(open('owls.txt').read())" }, { say: "Read." }]]);
    const upload = new File(["Twelve owls."], "owls.txt");
    const file = await client.beta.files.upload({ file: upload });
    const message = await client.beta.messages.create({
      model,
      max_tokens: 1024,
      betas: ["code-execution-2025-08-25", "files-api-2025-04-14"],
      messages: [{ role: "user", content: [{ type: "container_upload", file_id: file.id }] }],
      tools: [{ type: "code_execution_20250825", name: "code_execution" }],
    });
    expect(JSON.stringify(message.content)).toContain("Twelve owls.");
  },

  async "image input"() {
    const client = await start([[{ say: "An image." }]]);
    const data = PIXEL.replace(/^.*,/, "");
    const source = { type: "base64", media_type: "image/png", data } as const;
    const message = await client.messages.create({
      model,
      max_tokens: 1024,
      messages: [{ role: "user", content: [{ type: "image", source }] }],
    });
    expect(message.content).toMatchObject([{ text: "An image." }]);
  },

  async "continuing an earlier turn"() {
    const client = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const thread = client.beta.messages.thread({ model, max_tokens: 1024 });
    await thread.send({ role: "user", content: "Who are you?" });
    const message = await thread.send({ role: "user", content: "Again?" });
    expect(message.content).toMatchObject([{ text: "Ada." }]);
  },

  async compaction() {
    const client = await start(TWO_CALLS);
    const runner = client.beta.messages.toolRunner({
      ...ask("How many?"),
      tools: [createLook([])],
      betas: ["compact-2026-09-04"],
    });
    const reasons: unknown[] = [];
    for await (const message of runner) {
      if (reasons.length === 0) runner.compactBeforeNextTurn();
      reasons.push(message.stop_reason);
    }
    expect(reasons).toEqual(["tool_use", "compaction", "end_turn"]);
  },

  async "token count"() {
    const client = await start([[{ say: "Unused." }]]);
    const { max_tokens: _omitted, ...request } = ask("How many?");
    const { input_tokens } = await client.messages.countTokens(request);
    expect(input_tokens).toBeGreaterThan(0);
  },

  async "list of models"() {
    const client = await start([[{ say: "Unused." }]]);
    const ids: string[] = [];
    for await (const { id, type } of client.models.list()) if (type === "model") ids.push(id);
    expect(ids).not.toEqual([]);
    expect(await client.models.retrieve(ids[0] ?? "")).toMatchObject({ id: ids[0] });
  },

  async "errors and retries"() {
    const overloaded = { status: 529, message: "Overloaded." };
    const client = await start([[{ fail: overloaded }], [{ say: "Hello." }]]);
    const message = await client.messages.create(ask("Hi."));
    expect(message.content).toMatchObject([{ text: "Hello." }]);
    await expect(client.messages.create({ ...ask("Hi."), max_tokens: -1 })).rejects.toThrow(
      Anthropic.BadRequestError,
    );
  },
});
