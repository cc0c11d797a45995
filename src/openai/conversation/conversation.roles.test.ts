import { describe, expect, test } from "vitest";
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
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { historySlice } from "../history/history-slice.ts";

const assistant = expect.objectContaining({ role: "assistant" });

describe("a request has", () => {
  test("the system text, the user sections, the attachments and the input, in this order", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    const prompt = createSortPrompt().attach({ fileId: "file-1" });
    await run.evaluate(prompt, { input: "Start now." });
    expect(run.inputs).toEqual([
      [
        rulesMessage,
        sortMessage,
        { type: "message", role: "user", content: [{ type: "input_file", file_id: "file-1" }] },
        createUserMessage("Start now."),
      ],
    ]);
  });

  test("no system message if the prompt has only user sections", async () => {
    const run = await startRolesRun([[functionCall("look", {}, "call_1")], [message("Done.")]]);
    const own = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Sort.",
      role: "user",
      tools: [lookTool],
    });
    await run.evaluate(createRolesPrompt(own), { input: "Now." });
    const first = [createUserMessage("## 1. Task (task)\n\nSort."), createUserMessage("Now.")];
    expect(run.inputs[0]).toEqual(first);
    expect(run.inputs[1]).toMatchObject([
      ...first,
      { type: "function_call" },
      { type: "function_call_output" },
    ]);
  });

  test("the advice of hosted tools as its system text, also without system sections", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    const own = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Sort.",
      role: "user",
      hostedTools: [codeInterpreterTool({ timeoutSeconds: 30 })],
    });
    await run.evaluate(createRolesPrompt(own));
    expect(run.inputs[0]).toEqual([
      { ...rulesMessage, content: expect.stringContaining("30 seconds") },
      createUserMessage("## 1. Task (task)\n\nSort."),
    ]);
  });

  test("user sections in one message, in their order, however they alternate with system sections", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    const first = new MarkdownSection({ key: "a", title: "A", template: "One.", role: "user" });
    const last = new MarkdownSection({ key: "c", title: "C", template: "Three.", role: "user" });
    await run.evaluate(createRolesPrompt(first, rulesSection, last));
    expect(run.inputs[0]).toEqual([
      { ...rulesMessage, content: "## 2. Rules (rules)\n\nBe brief." },
      createUserMessage("## 1. A (a)\n\nOne.\n\n## 3. C (c)\n\nThree."),
    ]);
  });
});

describe("the input of an evaluation is sent", () => {
  test("as parts if it is more than one text", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    const bytes = new TextEncoder().encode("%PDF");
    await run.evaluate(createRolesPrompt(rulesSection), {
      input: [
        { type: "text", text: "Compare these." },
        { bytes, filename: "a.pdf" },
        { fileId: "file-1" },
        { imageUrl: "https://owls.example/owl.png" },
        { type: "text", text: "Briefly." },
      ],
    });
    expect(run.inputs[0]?.[1]).toEqual({
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Compare these." },
        {
          type: "input_file",
          filename: "a.pdf",
          file_data: "data:application/pdf;base64,JVBERg==",
        },
        { type: "input_file", file_id: "file-1" },
        { type: "input_image", detail: "auto", image_url: "https://owls.example/owl.png" },
        { type: "input_text", text: "Briefly." },
      ],
    });
  });

  test("as parts if it is one attachment", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    await run.evaluate(createRolesPrompt(rulesSection), { input: [{ fileId: "file-1" }] });
    const content = [{ type: "input_file", file_id: "file-1" }];
    expect(run.inputs[0]).toEqual([rulesMessage, { type: "message", role: "user", content }]);
  });

  test("once in an evaluation of several turns", async () => {
    const run = await startRolesRun([
      [functionCall("look", {}, "call_1")],
      [functionCall("look", {}, "call_2")],
      [message("Done.")],
    ]);
    await run.evaluate(createSortPrompt(), { input: "Now." });
    expect(run.inputs[2]).toMatchObject([
      rulesMessage,
      sortMessage,
      createUserMessage("Now."),
      { call_id: "call_1" },
      { call_id: "call_1" },
      { call_id: "call_2" },
      { call_id: "call_2" },
    ]);
  });

  test("once although the first request is repeated", async () => {
    const busy = { status: 500, error: { message: "Busy.", type: "server_error" } };
    const run = await startRolesRun([busy, busy, [message("Done.")]]);
    await run.evaluate(createSortPrompt(), { input: "Now." });
    expect(run.inputs).toEqual(
      Array(3).fill([rulesMessage, sortMessage, createUserMessage("Now.")]),
    );
    expect(run.session.get(historySlice)).toEqual([
      rulesMessage,
      sortMessage,
      createUserMessage("Now."),
      assistant,
    ]);
  });

  test("not at all if a file of it cannot be read", async () => {
    const run = await startRolesRun([[message("Done.")]]);
    const failed = run.evaluate(createRolesPrompt(rulesSection), {
      input: [{ path: "/no/such.pdf" }],
    });
    await expect(failed).rejects.toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    expect(run.inputs).toEqual([]);
  });

  test("not at all with zdrMode if it is a file that the provider stores", async () => {
    const compaction = { thresholdTokens: 1_000, zdrMode: true };
    const run = await startRolesRun([[message("Done.")]], { adapter: { compaction } });
    const input = [{ type: "text", text: "Read." } as const, { fileId: "file-1" }];
    await expect(run.evaluate(createRolesPrompt(rulesSection), { input })).rejects.toMatchObject({
      phase: "request",
      message: expect.stringContaining(
        "evaluate(input)[1].fileId must be omitted with compaction.zdrMode",
      ),
    });
    expect(run.inputs).toEqual([]);
    const allowed = await startRolesRun([[message("Done.")]], {
      adapter: { compaction: { ...compaction, allowStoredFiles: true } },
    });
    await allowed.evaluate(createRolesPrompt(rulesSection), { input });
    expect(allowed.inputs).toHaveLength(1);
  });
});

describe("a user section that the model opens", () => {
  test("is replaced where it stands", async () => {
    const run = await startRolesRun([[openSection("details", "call_1")], [message("Done.")]]);
    await run.evaluate(createRolesPrompt(rulesSection, createClosedSection("details", "user")), {
      input: "Now.",
    });
    const [first, second] = run.inputs;
    expect(first).toEqual([
      rulesMessage,
      createUserMessage(expect.stringContaining("How to sort.")),
      createUserMessage("Now."),
    ]);
    expect(second).toEqual([
      rulesMessage,
      createUserMessage("## 2. More (details)\n\nBy size, then by color."),
      createUserMessage("Now."),
      expect.objectContaining({ type: "function_call" }),
      expect.objectContaining({ type: "function_call_output" }),
    ]);
    expect(run.session.get(historySlice).slice(0, 5)).toEqual(second);
  });

  test("is removed if it has no text any more, and added again if it has", async () => {
    let isEnabled = true;
    const run = await startRolesRun([
      [openSection("details", "call_1")],
      [openSection("more", "call_2")],
      [message("Done.")],
    ]);
    const hint = new MarkdownSection({
      key: "hint",
      title: "Hint",
      template: "A hint.",
      role: "user",
      enabled: () => isEnabled,
    });
    const closed = createClosedSection("details", "system");
    const more = createClosedSection("more", "system");
    run.bus.subscribe("TurnCompleted", ({ turn }) => {
      isEnabled = turn === 2;
    });
    await run.evaluate(createRolesPrompt(rulesSection, closed, more, hint), { input: "Now." });
    const texts = run.inputs.map((items) => items.filter(({ role }) => role === "user"));
    const hinted = createUserMessage(expect.stringContaining("A hint."));
    expect(texts).toEqual([
      [hinted, createUserMessage("Now.")],
      [createUserMessage("Now.")],
      [createUserMessage("Now."), hinted],
    ]);
    // Added text follows the outputs, which belong to their calls.
    expect(run.inputs[2]?.at(-1)).toEqual(hinted);
  });
});
