import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { lookTool, promptWith, systemMessage } from "../../../tests/support/openai-run.ts";
import {
  functionCall,
  message,
  reasoning,
  type WireServer,
  wireServer,
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

const adapterOn = ({ url }: WireServer, more: Partial<OpenAIAdapterOptions> = {}) =>
  new OpenAIAdapter({
    model: "gpt-5.2",
    clientConfig: { apiKey: testKey, baseURL: url },
    throttle: { maxAttempts: 1 },
    ...more,
  });

const asking = (question: string) =>
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

const inputs = ({ requests }: WireServer) => requests.map(({ body }) => Object(body["input"]));

describe("a conversation", () => {
  test("is kept turn by turn, as the provider's own items", async () => {
    await using server = await wireServer([
      [reasoning("rs_1"), { ...functionCall("look", {}, "call_1"), id: "fc_1" }],
      [message("Seen.")],
    ]);
    const session = new Session();
    await adapterOn(server).evaluate(promptWith({ tools: [lookTool] }), { session });
    expect(session.get(historySlice)).toMatchObject([
      systemMessage,
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", id: "fc_1", call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1", output: "Seen." },
      { type: "message", role: "assistant" },
    ]);
  });

  test("starts anew unless it is told to go on", async () => {
    await using server = await wireServer([[message("One.")], [message("Two.")]]);
    const session = new Session();
    const adapter = adapterOn(server);
    await adapter.evaluate(asking("First?"), { session });
    await adapter.evaluate(asking("Second?"), { session });
    expect(inputs(server)[1]).toHaveLength(1);
    expect(session.get(historySlice)).toHaveLength(2);
  });

  test("goes on with the next prompt after what was said", async () => {
    await using server = await wireServer([[message("One.")], [message("Two.")], [message("3")]]);
    const session = new Session();
    const adapter = adapterOn(server);
    await adapter.evaluate(asking("First?"), { session });
    await adapter.evaluate(asking("Second?"), { session, continue: true });
    await adapter.evaluate(asking("Third?"), { session, continue: true });
    const [, second, third] = inputs(server);
    expect(second).toMatchObject([
      { role: "system", content: expect.stringContaining("First?") },
      { role: "assistant", content: [{ text: "One." }] },
      { role: "system", content: expect.stringContaining("Second?") },
    ]);
    expect(third.slice(0, 3)).toEqual(second);
    expect(third).toHaveLength(5);
  });

  test("goes on in another process, from where the store has it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "wink-continue-"));
    await using server = await wireServer([[message("One.")], [message("Two.")]]);
    const adapter = adapterOn(server);
    const store = new JsonlSessionStore(directory);
    const session = new Session({ id: "s1", store });
    await adapter.evaluate(asking("First?"), { session });
    await session.flush();
    await store.close();

    const reopened = new JsonlSessionStore(directory);
    const again = await Session.open(reopened, "s1", [historySlice]);
    const { text } = await adapter.evaluate(asking("Second?"), { session: again, continue: true });
    await again.flush();
    await reopened.close();
    expect(text).toBe("Two.");
    expect(inputs(server)[1].slice(0, 2)).toEqual(session.get(historySlice));
    const last = await Session.open(new JsonlSessionStore(directory), "s1", [historySlice]);
    expect(last.get(historySlice)).toHaveLength(4);
    await rm(directory, { recursive: true });
  });

  test("goes on as text that was serialised", async () => {
    await using server = await wireServer([[message("One.")], [message("Two.")]]);
    const session = new Session();
    const adapter = adapterOn(server);
    await adapter.evaluate(asking("First?"), { session });
    const again = Session.parse(session.serialize(), [historySlice]);
    await adapter.evaluate(asking("Second?"), { session: again, continue: true });
    expect(inputs(server)[1]).toHaveLength(3);
  });

  test("that stopped between a call and its output goes on without the call", async () => {
    const broken = { status: 400, error: { message: "No.", type: "invalid_request_error" } };
    await using server = await wireServer([
      [reasoning("rs_1"), functionCall("look", {}, "call_1")],
      broken,
      [message("Again.")],
    ]);
    const bus = recordingBus();
    const session = new Session({ bus });
    const adapter = adapterOn(server);
    const failed = adapter.evaluate(promptWith({ tools: [lookTool] }), { session });
    await expect(failed).rejects.toMatchObject({ phase: "request" });
    expect(session.get(historySlice)).toHaveLength(3); // the output was never taken
    await adapter.evaluate(asking("Well?"), { session, continue: true });
    expect(inputs(server)[2]).toMatchObject([systemMessage, { role: "system" }]);
    const dropped = [
      { type: "reasoning", id: "rs_1" },
      { type: "function_call", id: expect.anything() },
    ];
    expect(bus.of("HistoryRepaired")).toMatchObject([{ adapter: "openai", dropped }]);
    expect(session.get(historySlice)).toHaveLength(3);
  });

  test("that was stored goes on under store: false without what is not sealed", async () => {
    await using server = await wireServer([
      [reasoning("rs_1"), message("One.")],
      [message("Two.")],
    ]);
    const session = new Session();
    await adapterOn(server).evaluate(asking("First?"), { session });
    const sealed = adapterOn(server, { modelConfig: { store: false } });
    await sealed.evaluate(asking("Second?"), { session, continue: true });
    const types = inputs(server)[1].map(({ type, role }: Record<string, string>) => role ?? type);
    expect(types).toEqual(["system", "assistant", "system"]);
  });

  test("of a handler is its own: the outer one goes on untouched", async () => {
    await using server = await wireServer([
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
        const { text } = await adapter.evaluate(asking("Inner?"), { session });
        return ToolResult.ok(null, text ?? "");
      },
    });
    const session = new Session();
    const adapter = adapterOn(server);
    await adapter.evaluate(promptWith({ tools: [ask] }), { session });
    await adapter.evaluate(asking("Later?"), { session, continue: true });
    expect(inputs(server)[3]).toMatchObject([
      systemMessage,
      { type: "function_call" },
      { type: "function_call_output", output: "Inner." },
      { role: "assistant" },
      { role: "system" },
    ]);
  });

  test("keeps its history when a section is opened and the prompt reads otherwise", async () => {
    await using server = await wireServer([
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
    const opened = await adapterOn(server).evaluate(new Prompt(template), { session });
    expect(opened.text).toBe("Seen.");
    const [first, second] = inputs(server);
    expect(first[0].content).toContain("In short.");
    expect(second[0].content).toContain("The whole of it.");
    expect(second).toHaveLength(3);
    expect(session.get(historySlice)[0]).toEqual(second[0]);
  });
});
