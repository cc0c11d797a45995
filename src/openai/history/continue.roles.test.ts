import { describe, expect, test } from "vitest";
import {
  createClosedSection,
  createRolesPrompt,
  createSortPrompt,
  createUserMessage,
  openSection,
  rulesMessage,
  rulesSection,
  sortMessage,
  startRolesRun,
} from "../../../tests/support/roles-run.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { historySlice } from "./history-slice.ts";

const assistant = expect.objectContaining({ role: "assistant" });

describe("a continued conversation", () => {
  test("has its system text once, and every user message of every evaluation", async () => {
    const run = await startRolesRun([[message("One.")], [message("Two.")], [message("Three.")]]);
    await run.evaluate(createSortPrompt(), { input: "First." });
    await run.evaluate(createSortPrompt(), { input: "Again.", continue: true });
    await run.evaluate(createSortPrompt(), { input: "Again.", continue: true });
    const turns = (...inputs: readonly string[]) =>
      inputs.flatMap((text) => [sortMessage, createUserMessage(text), assistant]);
    expect(run.inputs).toEqual([
      [rulesMessage, sortMessage, createUserMessage("First.")],
      [rulesMessage, ...turns("First."), sortMessage, createUserMessage("Again.")],
      [rulesMessage, ...turns("First.", "Again."), sortMessage, createUserMessage("Again.")],
    ]);
    expect(run.session.get(historySlice)).toHaveLength(10);
  });

  test("gets changed system text after the earlier messages, and the new text is in force", async () => {
    const run = await startRolesRun([
      [message("1")],
      [message("2")],
      [message("3")],
      [message("4")],
    ]);
    const strict = new MarkdownSection({ key: "rules", title: "Rules", template: "Be polite." });
    const polite = { ...rulesMessage, content: "## 1. Rules (rules)\n\nBe polite." };
    await run.evaluate(createRolesPrompt(rulesSection), { input: "A" });
    await run.evaluate(createRolesPrompt(strict), { input: "B", continue: true });
    await run.evaluate(createRolesPrompt(strict), { input: "C", continue: true });
    await run.evaluate(createRolesPrompt(rulesSection), { input: "D", continue: true });
    expect(run.inputs.at(-1)).toEqual([
      ...[rulesMessage, createUserMessage("A"), assistant],
      ...[polite, createUserMessage("B"), assistant],
      ...[createUserMessage("C"), assistant],
      ...[rulesMessage, createUserMessage("D")],
    ]);
  });

  test("repeats its system text if an evaluation has nothing else for the model to answer", async () => {
    const run = await startRolesRun([[message("One.")], [message("Two.")], [message("Three.")]]);
    await run.evaluate(createRolesPrompt(rulesSection));
    await run.evaluate(createRolesPrompt(rulesSection), { continue: true });
    await run.evaluate(createRolesPrompt(rulesSection), { input: "And?", continue: true });
    expect(run.inputs.slice(1)).toEqual([
      [rulesMessage, assistant, rulesMessage],
      [rulesMessage, assistant, rulesMessage, assistant, createUserMessage("And?")],
    ]);
  });

  test("does not repeat its system text if the output of a call waits for an answer", async () => {
    const broken = { status: 400, error: { message: "No.", type: "invalid_request_error" } };
    const run = await startRolesRun([
      [functionCall("look", {}, "call_1")],
      [functionCall("look", {}, "call_2")],
      broken,
      [message("Done.")],
    ]);
    await expect(run.evaluate(createRolesPrompt(rulesSection))).rejects.toThrow("status 400");
    await run.evaluate(createRolesPrompt(rulesSection), { continue: true });
    expect(run.inputs[3]).toMatchObject([
      rulesMessage,
      { type: "function_call", call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1" },
    ]);
    expect(run.inputs[3]).toHaveLength(3);
  });

  test("replaces its system text where it stands if a section is opened", async () => {
    const run = await startRolesRun([
      [message("One.")],
      [openSection("details", "call_1")],
      [message("Two.")],
      [message("Three.")],
    ]);
    const more = createClosedSection("details", "system");
    const prompt = createRolesPrompt(rulesSection, more);
    await run.evaluate(prompt, { input: "A" });
    await run.evaluate(prompt, { input: "B", continue: true });
    await run.evaluate(prompt, { input: "C", continue: true });
    const [, second, third, fourth] = run.inputs;
    expect(second?.[0]?.["content"]).toContain("How to sort.");
    expect(third?.[0]?.["content"]).toContain("By size");
    expect(third?.slice(1, 4)).toEqual([createUserMessage("A"), assistant, createUserMessage("B")]);
    expect(fourth?.filter(({ role }) => role === "system")).toEqual([third?.[0]]);
  });

  test("continues a conversation whose prompt an earlier release stored as a system message", async () => {
    const run = await startRolesRun([[message("Two.")]]);
    run.session.register(historySlice);
    const added = [rulesMessage, { ...message("One."), id: "msg_1" }];
    const stamp = { sessionId: run.session.id, promptName: "test:sort", adapter: "openai" };
    const advanced = { ...stamp, createdAt: new Date(0).toISOString(), turn: 1, kept: 0, added };
    run.session.dispatch({ type: "HistoryAdvanced", ...advanced });
    await run.evaluate(createRolesPrompt(rulesSection), { input: "B", continue: true });
    expect(run.inputs).toEqual([[rulesMessage, assistant, createUserMessage("B")]]);
  });

  test("sends nothing of a nested evaluation", async () => {
    const run = await startRolesRun([
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
        const { text } = await adapter.evaluate(createSortPrompt(), { session, input: "Inner?" });
        return ToolResult.ok(null, text);
      },
    });
    const outer = new MarkdownSection({
      key: "rules",
      title: "Rules",
      template: "Be brief.",
      tools: [ask],
    });
    await run.evaluate(createRolesPrompt(outer), { input: "Outer?" });
    await run.evaluate(createRolesPrompt(outer), { input: "Later?", continue: true });
    expect(run.inputs[1]).toEqual([rulesMessage, sortMessage, createUserMessage("Inner?")]);
    expect(run.inputs[3]).toEqual([
      rulesMessage,
      createUserMessage("Outer?"),
      expect.objectContaining({ type: "function_call" }),
      expect.objectContaining({ output: "Inner." }),
      assistant,
      createUserMessage("Later?"),
    ]);
  });
});
