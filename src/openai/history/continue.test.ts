import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt, lookTool, systemMessage } from "../../../tests/support/openai-run.ts";
import {
  functionCall,
  message,
  reasoning,
  startWireServer,
  type WireServer,
} from "../../../tests/support/wire-server.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { OpenAIAdapter } from "../adapter.ts";
import type { OpenAIAdapterOptions } from "../adapter-options.ts";
import { historySlice } from "./history-slice.ts";

const createAdapter = ({ url }: WireServer, more: Partial<OpenAIAdapterOptions> = {}) =>
  new OpenAIAdapter({
    model: "gpt-5.2",
    clientConfig: { apiKey: testKey, baseURL: url },
    throttle: { maxAttempts: 1 },
    ...more,
  });

const createPrompt = (question: string) =>
  new Prompt(
    new PromptTemplate({
      ns: "test",
      key: "ask",
      sections: [
        new MarkdownSection({
          key: "task",
          title: "Task",
          template: "$question",
          params: z.object({ question: z.string() }),
        }),
      ],
    }),
  ).bind({ question });

const readInputs = ({ requests }: WireServer) => requests.map(({ body }) => Object(body["input"]));

describe("a conversation with continue", () => {
  test("stores each turn in the session as wire items", async () => {
    await using server = await startWireServer([
      [reasoning("rs_1"), { ...functionCall("look", {}, "call_1"), id: "fc_1" }],
      [message("Seen.")],
    ]);
    const session = new Session();
    await createAdapter(server).evaluate(createTaskPrompt({ tools: [lookTool] }), { session });
    expect(session.get(historySlice)).toMatchObject([
      systemMessage,
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", id: "fc_1", call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1", output: "Seen." },
      { type: "message", role: "assistant" },
    ]);
  });

  test("starts a new history without continue: true", async () => {
    await using server = await startWireServer([[message("One.")], [message("Two.")]]);
    const session = new Session();
    const adapter = createAdapter(server);
    await adapter.evaluate(createPrompt("First?"), { session });
    await adapter.evaluate(createPrompt("Second?"), { session });
    expect(readInputs(server)[1]).toHaveLength(1);
    expect(session.get(historySlice)).toHaveLength(2);
  });

  test("appends the next prompt to the stored history", async () => {
    await using server = await startWireServer([
      [message("One.")],
      [message("Two.")],
      [message("3")],
    ]);
    const session = new Session();
    const adapter = createAdapter(server);
    await adapter.evaluate(createPrompt("First?"), { session });
    await adapter.evaluate(createPrompt("Second?"), { session, continue: true });
    await adapter.evaluate(createPrompt("Third?"), { session, continue: true });
    const [, second, third] = readInputs(server);
    expect(second).toMatchObject([
      { role: "system", content: expect.stringContaining("First?") },
      { role: "assistant", content: [{ text: "One." }] },
      { role: "system", content: expect.stringContaining("Second?") },
    ]);
    expect(third.slice(0, 3)).toEqual(second);
    expect(third).toHaveLength(5);
  });

  test("continues in another process from the session store", async () => {
    const directory = await mkdtemp(join(tmpdir(), "wink-continue-"));
    await using server = await startWireServer([[message("One.")], [message("Two.")]]);
    const adapter = createAdapter(server);
    const store = new JsonlSessionStore(directory);
    const session = new Session({ id: "s1", store });
    await adapter.evaluate(createPrompt("First?"), { session });
    await session.flush();
    await store.close();

    const reopened = new JsonlSessionStore(directory);
    const again = await Session.open(reopened, "s1", [historySlice]);
    const { text } = await adapter.evaluate(createPrompt("Second?"), {
      session: again,
      continue: true,
    });
    await again.flush();
    await reopened.close();
    expect(text).toBe("Two.");
    expect(readInputs(server)[1].slice(0, 2)).toEqual(session.get(historySlice));
    const last = await Session.open(new JsonlSessionStore(directory), "s1", [historySlice]);
    expect(last.get(historySlice)).toHaveLength(4);
    await rm(directory, { recursive: true });
  });

  test("continues from a serialized session", async () => {
    await using server = await startWireServer([[message("One.")], [message("Two.")]]);
    const session = new Session();
    const adapter = createAdapter(server);
    await adapter.evaluate(createPrompt("First?"), { session });
    const again = Session.parse(session.serialize(), [historySlice]);
    await adapter.evaluate(createPrompt("Second?"), { session: again, continue: true });
    expect(readInputs(server)[1]).toHaveLength(3);
  });

  test("drops a call without output when it continues", async () => {
    const broken = { status: 400, error: { message: "No.", type: "invalid_request_error" } };
    await using server = await startWireServer([
      [reasoning("rs_1"), functionCall("look", {}, "call_1")],
      broken,
      [message("Again.")],
    ]);
    const bus = recordingBus();
    const session = new Session({ bus });
    const adapter = createAdapter(server);
    const failed = adapter.evaluate(createTaskPrompt({ tools: [lookTool] }), { session });
    await expect(failed).rejects.toMatchObject({ phase: "request" });
    expect(session.get(historySlice)).toHaveLength(3); // the output was never accepted
    await adapter.evaluate(createPrompt("Well?"), { session, continue: true });
    expect(readInputs(server)[2]).toMatchObject([systemMessage, { role: "system" }]);
    const dropped = [
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", id: expect.anything() },
    ];
    expect(bus.of("HistoryRepaired")).toMatchObject([{ adapter: "openai", dropped }]);
    expect(session.get(historySlice)).toHaveLength(3);
  });

  test("drops reasoning without encrypted content when it continues with store: false", async () => {
    await using server = await startWireServer([
      [reasoning("rs_1"), message("One.")],
      [message("Two.")],
    ]);
    const session = new Session();
    await createAdapter(server).evaluate(createPrompt("First?"), { session });
    const unstored = createAdapter(server, { modelConfig: { store: false } });
    await unstored.evaluate(createPrompt("Second?"), { session, continue: true });
    const types = readInputs(server)[1].map(
      ({ type, role }: Record<string, string>) => role ?? type,
    );
    expect(types).toEqual(["system", "assistant", "system"]);
  });

  test("does not mix a handler's nested conversation into the outer history", async () => {
    await using server = await startWireServer([
      [functionCall("ask", {}, "call_1")],
      [message("Inner.")],
      [message("Outer.")],
      [message("Later.")],
    ]);
    const ask = new Tool({
      name: "ask",
      description: "Asks.",
      params: null,
      handler: async (_, { adapter, session }) => {
        const { text } = await adapter.evaluate(createPrompt("Inner?"), { session });
        return ToolResult.ok(null, text);
      },
    });
    const session = new Session();
    const adapter = createAdapter(server);
    await adapter.evaluate(createTaskPrompt({ tools: [ask] }), { session });
    await adapter.evaluate(createPrompt("Later?"), { session, continue: true });
    expect(readInputs(server)[3]).toMatchObject([
      systemMessage,
      { type: "function_call" },
      { type: "function_call_output", output: "Inner." },
      { role: "assistant" },
      { role: "system" },
    ]);
  });

  test("keeps its history when opening a section changes the prompt", async () => {
    await using server = await startWireServer([
      [functionCall("open_sections", { section_keys: ["more"], reason: "To see." }, "call_1")],
      [message("Seen.")],
    ]);
    const sections = [
      new MarkdownSection({ key: "task", title: "Task", template: "Go." }),
      new MarkdownSection({
        key: "more",
        title: "More",
        template: "The whole of it.",
        summary: "In short.",
        visibility: "summary",
        tools: [lookTool],
      }),
    ];
    const session = new Session();
    const template = new PromptTemplate({ ns: "test", key: "open", sections });
    const opened = await createAdapter(server).evaluate(new Prompt(template), { session });
    expect(opened.text).toBe("Seen.");
    const [first, second] = readInputs(server);
    expect(first[0].content).toContain("In short.");
    expect(second[0].content).toContain("The whole of it.");
    expect(second).toHaveLength(3);
    expect(session.get(historySlice)[0]).toEqual(second[0]);
  });
});
