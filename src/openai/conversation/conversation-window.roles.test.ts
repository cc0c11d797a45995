import { describe, expect, it } from "vitest";
import { createEncryptedItem } from "../../../tests/support/compaction/compaction-routes.ts";
import { lookTool } from "../../../tests/support/openai-run.ts";
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
import { compactionSlice } from "../compaction/compaction-state.ts";
import { historySlice } from "../history/history-slice.ts";

const endpoint = { compaction: { thresholdTokens: 50 } };
const server = { compaction: { strategy: "server", thresholdTokens: 1_000 } } as const;
const usage = { input_tokens: 50, output_tokens: 10, total_tokens: 60 };
const callTurn = (id: string) => ({ output: [functionCall("look", {}, id)], usage });
const answerTurn = { output: [message("Done.")], usage };
const assistant = expect.objectContaining({ role: "assistant" });
const question = createUserMessage("Now?");

describe("a compaction at the endpoint", () => {
  it("compacts the messages of the user, and the system text comes first again", async () => {
    const run = await startRolesRun([callTurn("call_1"), answerTurn], {
      adapter: endpoint,
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate(createSortPrompt(), { input: "Now?" });
    expect(run.compactions.map(({ body }) => body)).toEqual([
      {
        model: "gpt-5.2",
        instructions: rulesMessage.content,
        input: [
          sortMessage,
          question,
          expect.objectContaining({ type: "function_call" }),
          expect.objectContaining({ type: "function_call_output" }),
        ],
      },
    ]);
    const window = [rulesMessage, sortMessage, question, createEncryptedItem(1)];
    expect(run.inputs[1]).toEqual(window);
    expect(run.session.get(historySlice)).toEqual([...window, assistant]);
  });

  it("sends no instructions if the prompt has no system text", async () => {
    const run = await startRolesRun([callTurn("call_1"), answerTurn], {
      adapter: endpoint,
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    const tools = [lookTool];
    const own = new MarkdownSection({ key: "t", title: "T", template: "Go.", role: "user", tools });
    await run.evaluate(createRolesPrompt(own));
    expect(run.compactions[0]?.body).not.toHaveProperty("instructions");
    expect(run.inputs[1]).toEqual([
      createUserMessage("## 1. T (t)\n\nGo."),
      createEncryptedItem(1),
    ]);
  });

  it("leaves the messages that the model has not answered yet after the window", async () => {
    const run = await startRolesRun([[message("One.")], [message("Two.")], [message("Three.")]], {
      adapter: endpoint,
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate(createSortPrompt(), { input: "A" });
    await run.evaluate(createSortPrompt(), { input: "B", continue: true });
    expect(run.compactions.map(({ body }) => body["input"])).toEqual([
      [sortMessage, createUserMessage("A"), assistant],
    ]);
    const window = [sortMessage, createUserMessage("A"), createEncryptedItem(1)];
    const second = [rulesMessage, ...window, sortMessage, createUserMessage("B")];
    expect(run.inputs[1]).toEqual(second);
    expect(run.session.get(compactionSlice).window).toEqual(window);
    await run.evaluate(createSortPrompt(), { input: "C", continue: true });
    expect(run.inputs[2]).toEqual([...second, assistant, sortMessage, createUserMessage("C")]);
  });

  it("leaves the messages of a first request that is repeated in place, once", async () => {
    const busy = { status: 500, error: { message: "Busy.", type: "server_error" } };
    const run = await startRolesRun([[message("One.")], busy, [message("Two.")]], {
      adapter: endpoint,
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate(createSortPrompt(), { input: "A" });
    await run.evaluate(createSortPrompt(), { input: "B", continue: true });
    const [, failed, repeated] = run.inputs;
    expect(failed?.at(-1)).toEqual(createUserMessage("B"));
    expect(repeated).toEqual(failed);
    expect(run.compactions).toHaveLength(1);
  });

  it("is followed by the messages of the next evaluation if its window is carried over", async () => {
    const run = await startRolesRun([callTurn("call_1"), answerTurn, [message("Three.")]], {
      adapter: endpoint,
      tokens: (nth) => (nth === 1 ? 51 : 50),
    });
    await run.evaluate(createSortPrompt(), { input: "Now?" });
    await run.evaluate(createSortPrompt("bats"), { input: "Then?" });
    expect(run.inputs[2]).toEqual([
      rulesMessage,
      ...[sortMessage, question, createEncryptedItem(1)],
      createUserMessage("## 2. Task (task)\n\nSort bats."),
      createUserMessage("Then?"),
    ]);
  });

  it("is not followed by a user section again until its text changes", async () => {
    const run = await startRolesRun(
      [
        callTurn("call_1"),
        callTurn("call_2"),
        { output: [openSection("more", "call_3")], usage },
        answerTurn,
      ],
      { adapter: endpoint, tokens: (nth) => (nth === 1 ? 51 : 50) },
    );
    const prompt = createRolesPrompt(rulesSection, createClosedSection("more", "user"));
    await run.evaluate(prompt, { input: "Now?" });
    const closed = createUserMessage(expect.stringContaining("How to sort."));
    const open = createUserMessage(expect.stringContaining("By size"));
    const items = expect.objectContaining({ call_id: expect.anything() });
    expect(run.inputs.slice(1)).toEqual([
      [rulesMessage, closed, question, createEncryptedItem(1)],
      [rulesMessage, closed, question, createEncryptedItem(1), items, items],
      // New text follows the outputs, which belong to their calls.
      [rulesMessage, closed, question, createEncryptedItem(1), items, items, items, items, open],
    ]);
  });
});

describe("a compaction by the server", () => {
  const compacted = { output: [createEncryptedItem(1), functionCall("look", {}, "call_1")], usage };

  it("replaces the messages of the user, and the system text comes first again", async () => {
    const run = await startRolesRun([compacted, answerTurn], { adapter: server });
    await run.evaluate(createSortPrompt(), { input: "Now?" });
    expect(run.inputs).toEqual([
      [rulesMessage, sortMessage, question],
      [
        rulesMessage,
        createEncryptedItem(1),
        expect.objectContaining({ type: "function_call" }),
        expect.objectContaining({ type: "function_call_output" }),
      ],
    ]);
  });

  it("is followed by the messages of the next evaluations, with the system text once", async () => {
    const run = await startRolesRun(
      [{ output: [message("One."), createEncryptedItem(1)], usage }, answerTurn, answerTurn],
      { adapter: server },
    );
    await run.evaluate(createSortPrompt(), { input: "A" });
    await run.evaluate(createSortPrompt(), { input: "B" });
    await run.evaluate(createSortPrompt(), { input: "C", continue: true });
    const second = [rulesMessage, createEncryptedItem(1), sortMessage, createUserMessage("B")];
    expect(run.inputs.slice(1)).toEqual([
      second,
      [...second, assistant, sortMessage, createUserMessage("C")],
    ]);
  });

  it("is followed by a user section whose text changes", async () => {
    const output = [createEncryptedItem(1), openSection("more", "call_1")];
    const run = await startRolesRun([{ output, usage }, answerTurn], { adapter: server });
    await run.evaluate(createRolesPrompt(rulesSection, createClosedSection("more", "user")));
    expect(run.inputs[1]?.at(-1)).toEqual(
      createUserMessage("## 2. More (more)\n\nBy size, then by color."),
    );
  });
});

describe("the size of a conversation with attachments", () => {
  it("is counted at the provider, because the bytes of an item say nothing about its files", async () => {
    const run = await startRolesRun([[message("One.")], [message("Two.")]], {
      adapter: { compaction: { thresholdTokens: 100_000 } },
      tokens: 100_001,
    });
    await run.evaluate(createSortPrompt(), { input: [{ fileId: "file-1" }] });
    // The next evaluation has no attachment, but its conversation does.
    await run.evaluate(createSortPrompt(), { input: "Well?", continue: true });
    expect(run.compactions).not.toHaveLength(0);
  });
});
