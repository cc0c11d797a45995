import { describe, expect, test } from "vitest";
import { readRecord, readRecords } from "../../src/base/json.ts";
import { scriptedModel } from "../../src/local/index.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { anthropicMissing, createAnthropicFixture } from "../support/claude/anthropic-client.ts";

const model = "claude-any";
const base = { model, max_tokens: 4000 };
const plain = { ...base, messages: [{ role: "user", content: "How many owls?" }] };

/** Creates a tool that the runner calls, and the list of its calls. */
function createOwlTool(name = "count_owls") {
  const calls: unknown[] = [];
  const tool = {
    type: "custom",
    name,
    description: "Counts owls.",
    input_schema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
    run: (input: unknown) => {
      calls.push(input);
      return "Twelve.";
    },
    parse: (input: unknown) => input,
  };
  return { tool, calls };
}

const call = { call: { name: "count_owls", args: { at: "barn" } } };

describe.skipIf(anthropicMissing)("Anthropic's SDK", () => {
  test("continues a message thread, which remembers the first turn", async () => {
    await using fixture = await createAnthropicFixture({
      model: scriptedModel(({ items }) => [{ say: `I know ${items.length} messages.` }]),
    });
    const thread = fixture.client.beta.messages.thread({ ...base, system: "Be brief." });
    await thread.send({ role: "user", content: "I am Ann." });
    const second = await thread.send({ role: "user", content: "Who am I?" });
    expect(second["content"]).toMatchObject([{ text: "I know 3 messages." }]);
    const third = await thread.stream({ role: "user", content: "And now?" }).finalMessage();
    expect(third["content"]).toMatchObject([{ text: "I know 5 messages." }]);
    expect(thread.previousMessageId).toBe(third["id"]);
    expect(fixture.requests.map(({ messages }) => Object(messages).length)).toEqual([1, 1, 1]);
  });

  test.each([false, true])("runs tools with its tool runner, stream: %s", async (stream) => {
    await using fixture = await createAnthropicFixture({
      model: scriptedModel([[call], [{ say: "Twelve owls." }]]),
    });
    const { tool, calls } = createOwlTool();
    const runner = fixture.client.beta.messages.toolRunner({ ...plain, stream, tools: [tool] });
    const messages: unknown[] = [];
    for await (const item of runner) {
      const { finalMessage } = Object(item);
      messages.push(stream ? await finalMessage.call(item) : item);
    }
    expect(messages).toMatchObject([
      { stop_reason: "tool_use" },
      { stop_reason: "end_turn", content: [{ text: "Twelve owls." }] },
    ]);
    expect(calls).toEqual([{ at: "barn" }]);
    expect(fixture.requests.map(({ thread }) => Object(thread).type)).toEqual([
      "create",
      "continue",
    ]);
  });

  test("compacts the conversation of its tool runner and continues with the summary", async () => {
    const texts: string[] = [];
    await using fixture = await createAnthropicFixture({
      model: scriptedModel(({ items, turn }) => {
        texts.push(JSON.stringify(items));
        return turn === 0 ? [call] : [{ say: "Twelve owls." }];
      }),
    });
    const { tool } = createOwlTool();
    const betas = ["compact-2026-09-04"];
    const runner = fixture.client.beta.messages.toolRunner({ ...plain, tools: [tool], betas });
    const reasons: unknown[] = [];
    for await (const message of runner) {
      const { stop_reason: reason } = Object(message);
      if (reasons.length === 0) runner.compactBeforeNextTurn();
      reasons.push(reason);
    }
    expect(reasons).toEqual(["tool_use", "compaction", "end_turn"]);
    expect(texts).toHaveLength(2);
    expect(texts[1]).toContain("Result: Twelve.");
    expect(texts[1]).not.toContain("function_call");
  });

  test("adds and removes tools of its tool runner between turns", async () => {
    const offered: unknown[] = [];
    await using fixture = await createAnthropicFixture({
      model: scriptedModel(({ tools, turn }) => {
        offered.push(tools.map((tool) => Object(tool).name));
        return turn === 0 ? [call] : [{ say: "Twelve owls." }];
      }),
    });
    const { tool } = createOwlTool();
    const betas = ["inline-tools-2026-09-15"];
    const runner = fixture.client.beta.messages.toolRunner({ ...plain, tools: [tool], betas });
    for await (const _message of runner) {
      if (offered.length > 1) continue;
      runner.addTools(createOwlTool("count_mice").tool);
      runner.removeTools("count_owls");
    }
    expect(offered).toEqual([["count_owls"], ["count_mice"]]);
  });

  test("streams, counts tokens and parses a structured answer", async () => {
    const answer = { owls: 12 };
    await using fixture = await createAnthropicFixture({
      model: scriptedModel(() => [{ say: answer }]),
    });
    const { messages } = fixture.client;
    const schema = { type: "object", properties: { owls: { type: "integer" } } };
    const format = {
      type: "json_schema",
      schema: { ...schema, required: ["owls"], additionalProperties: false },
      parse: (text: string): unknown => JSON.parse(text),
    };
    const parsed = await messages.parse({ ...plain, output_config: { format } });
    expect(parsed["parsed_output"]).toEqual(answer);
    expect(await messages.stream(plain).finalMessage()).toMatchObject({
      content: [{ type: "text", text: JSON.stringify(answer) }],
      stop_reason: "end_turn",
    });
    const { max_tokens: _none, ...countable }: WireItem = plain;
    expect(await messages.countTokens(countable)).toMatchObject({
      input_tokens: expect.any(Number),
    });
  });

  test("gets a command for Anthropic's bash tool, which the client runs", async () => {
    await using fixture = await createAnthropicFixture({
      model: scriptedModel([[{ shell: ["ls"] }]]),
    });
    const tools = [{ type: "bash_20250124", name: "bash" }];
    expect(await fixture.client.messages.create({ ...plain, tools })).toMatchObject({
      stop_reason: "tool_use",
      content: [{ type: "tool_use", name: "bash", input: { command: "ls" } }],
    });
  });

  test("lists models, and reads that there are no batches", async () => {
    await using fixture = await createAnthropicFixture({ apiKey: "any" });
    const { models, messages } = fixture.client;
    expect((await models.list())["data"]).toMatchObject([{ id: "local", type: "model" }]);
    expect(await models.retrieve("claude-any")).toMatchObject({ id: "claude-any", type: "model" });
    await expect(messages.batches.create({ requests: [] })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("This server does not serve message batches."),
    });
  });

  test("uploads a file to a container and downloads the file that code made of it", async () => {
    await using fixture = await createAnthropicFixture({
      model: scriptedModel([[{ shell: ["tr a-z A-Z < birds.txt > loud.txt"] }, { say: "Done." }]]),
    });
    const { beta, messages } = fixture.client;
    const file = new File(["owls"], "birds.txt", { type: "text/plain" });
    const uploaded = await beta.files.upload({ file });
    expect(uploaded).toMatchObject({ filename: "birds.txt", size_bytes: 4, downloadable: false });
    const { id } = uploaded;
    const answer = await messages.create({
      ...base,
      tools: [{ type: "code_execution_20250825", name: "code_execution" }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Shout." },
            { type: "container_upload", file_id: id },
          ],
        },
      ],
    });
    const [, result] = readRecords(answer, "content");
    const [output] = readRecords(readRecord(result ?? {}, "content"), "content");
    const made = String(output?.["file_id"]);
    expect(await beta.files.retrieveMetadata(made)).toMatchObject({
      filename: "loud.txt",
      mime_type: expect.stringContaining("text/plain"),
      downloadable: true,
    });
    expect(await (await beta.files.download(made)).text()).toBe("OWLS");
    await expect(beta.files.download(String(id))).rejects.toMatchObject({ status: 400 });
    expect((await beta.files.list())["data"]).toMatchObject([{ id }]);
    for (const one of [made, String(id)])
      expect(await beta.files.delete(one)).toEqual({ id: one, type: "file_deleted" });
    await expect(beta.files.retrieveMetadata(String(id))).rejects.toMatchObject({ status: 404 });
  });
});
