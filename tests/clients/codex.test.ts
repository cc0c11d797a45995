import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import {
  type Codex,
  type CodexProvider,
  createCodex,
  findItems,
  readLastMessage,
} from "./support/codex.ts";
import { describeClient } from "./support/describe-client.ts";
import { ANSWER, ANSWER_SCHEMA, PAGES, PIXEL } from "./support/samples.ts";
import { type Script, type ServedProvider, type ServeOptions, serve } from "./support/serve.ts";

interface StartOptions extends ServeOptions {
  readonly provider?: CodexProvider;
  readonly files?: Readonly<Record<string, string>>;
}

async function start(
  script: Script,
  { provider = "local", files = {}, ...options }: StartOptions = {},
): Promise<Codex & Pick<ServedProvider, "requests">> {
  const { url, requests } = await serve(script, options);
  return { ...(await createCodex(url, provider, files)), requests };
}

const runCommand = (cmd: string) => ({ call: { name: "exec_command", args: { cmd } } });

const PATCH = `*** Begin Patch
*** Add File: owls.txt
+Twelve owls.
*** End Patch
`;

describeClient("@openai/codex", {
  async "plain turn"() {
    const codex = await start([[{ say: "Hello." }]]);
    expect(readLastMessage(await codex.exec(["Hi."]))).toBe("Hello.");
    await expect.poll(() => codex.requests).toEqual(["POST /v1/responses 200"]);
  },

  async streaming() {
    const codex = await start([[{ think: "Hm." }, { say: "Hello, owls." }]]);
    const events = await codex.exec(["Hi."]);
    expect(findItems(events, "reasoning")).toMatchObject([{ text: "Hm." }]);
    expect(readLastMessage(events)).toBe("Hello, owls.");
    expect(events.at(-1)?.type).toBe("turn.completed");
  },

  async "function calls, several at once"() {
    const codex = await start(
      [[runCommand("cat owls.txt"), runCommand("echo tree")], [{ say: "Twelve owls." }]],
      { files: { "owls.txt": "barn\n" } },
    );
    const events = await codex.exec(["How many?"]);
    const outputs = findItems(events, "command_execution").map((item) => item.aggregated_output);
    expect(outputs.toSorted()).toEqual(["barn\n", "tree\n"]);
    expect(readLastMessage(events)).toBe("Twelve owls.");
  },

  async "structured output"() {
    const files = { "schema.json": JSON.stringify(ANSWER_SCHEMA) };
    const codex = await start([[{ say: ANSWER }]], { files });
    const events = await codex.exec(["How many?", "--output-schema", "schema.json"]);
    expect(JSON.parse(readLastMessage(events) ?? "")).toEqual(ANSWER);
  },

  async "custom tools"() {
    const code = "const { output } = await tools.exec_command({ cmd: 'echo owl' });\ntext(output);";
    const codex = await start([
      [{ call: { name: "apply_patch", args: PATCH } }],
      [{ say: "Done." }],
      [{ call: { name: "exec", args: code } }],
      [{ say: "Ran." }],
    ]);
    const events = await codex.exec(["Edit."]);
    expect(findItems(events, "file_change")).toMatchObject([{ status: "completed" }]);
    expect(await readFile(join(codex.folder, "owls.txt"), "utf8")).toBe("Twelve owls.\n");
    expect(readLastMessage(events)).toBe("Done.");
    // With newer models, the tools are in an item of the input, and their calls are in programs.
    const ran = await codex.exec(["Run.", "-m", "gpt-6.1-sol"]);
    expect(findItems(ran, "command_execution")).toMatchObject([{ aggregated_output: "owl\n" }]);
    expect(readLastMessage(ran)).toBe("Ran.");
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const codex = await start(script, { pages: PAGES });
    const events = await codex.exec(["Where?"]);
    expect(findItems(events, "web_search")).toMatchObject([{ query: "owls" }]);
    expect(readLastMessage(events)).toBe("Barns.");
  },

  async "tool search"() {
    const codex = await start([
      [{ use: { kind: "tool_search", args: { query: "close agents" } } }],
      [{ call: { name: "close_agent", args: { target: "none" } } }],
      [{ say: "Done." }],
    ]);
    expect(readLastMessage(await codex.exec(["Close all agents."]))).toBe("Done.");
  },

  async "image input"() {
    const png = PIXEL.replace(/^.*,/, "");
    const codex = await start([[{ say: "An image." }]], { files: { "owl.png": png } });
    expect(readLastMessage(await codex.exec(["What is it?", "-i", "owl.png"]))).toBe("An image.");
  },

  async "continuing an earlier turn"() {
    const codex = await start([
      [{ think: "Hm." }, runCommand("echo owl")],
      [{ say: "I am Ada." }],
      [{ say: "Ada." }],
    ]);
    await codex.exec(["Who are you?"]);
    expect(readLastMessage(await codex.exec(["resume", "Again?"]))).toBe("Ada.");
  },

  async WebSocket() {
    const script = [[runCommand("echo owl")], [{ say: "Done." }]];
    const codex = await start(script, { provider: "built-in" });
    const events = await codex.exec(["Run."]);
    expect(findItems(events, "command_execution")).toMatchObject([{ aggregated_output: "owl\n" }]);
    expect(findItems(events, "error")).toEqual([]);
    const turn = "WS /v1/responses 200"; // the first one only prepares the connection
    await expect.poll(() => codex.requests).toEqual([turn, turn, turn]);
    expect(readLastMessage(events)).toBe("Done.");
  },

  async compaction() {
    const limit = ["-c", "model_auto_compact_token_limit=100"];
    const own = await start([
      [runCommand("echo owl")],
      [{ say: "A summary." }],
      [{ say: "Done." }],
    ]);
    expect(readLastMessage(await own.exec(["Run.", ...limit]))).toBe("Done.");
    const script = [[runCommand("echo owl")], [{ say: "Done." }], [{ say: "Ada." }]];
    const remote = await start(script, { provider: "OpenAI" });
    expect(readLastMessage(await remote.exec(["Run.", ...limit]))).toBe("Done.");
    expect(readLastMessage(await remote.exec(["resume", "Again?", ...limit]))).toBe("Ada.");
  },

  async "errors and retries"() {
    const overloaded = { status: 503, message: "Overloaded." };
    const wrong = { status: 400, message: "Not like this.", code: "invalid_prompt" };
    const codex = await start([[{ fail: overloaded }], [{ say: "Hello." }], [{ fail: wrong }]]);
    expect(readLastMessage(await codex.exec(["Hi."]))).toBe("Hello.");
    const events = await codex.exec(["Hi."], { mayFail: true });
    expect(events.at(-1)).toMatchObject({ type: "turn.failed" });
    expect(events.at(-1)?.error?.message).toContain("Not like this.");
  },
});
