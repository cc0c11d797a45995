import { describe, expect, it } from "vitest";
import { createTaskPrompt, lookTool } from "../../../tests/support/openai-run.ts";
import {
  countUntil,
  type KilledRunOptions,
  KilledRuns,
} from "../../../tests/support/resume/killed-runs.ts";
import { createLookPrompt, createLookTurn } from "../../../tests/support/resume/look-turn.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  type WireAnswer,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

const twoTurns: readonly WireAnswer[] = [createLookTurn("call_1"), [message("Done.")]];

const compaction = { strategy: "server", thresholdTokens: 1000 } as const;
const otherModel = { compaction, model: "gpt-5.3" };
const sealed = { id: "cmp_1", type: "compaction", encrypted_content: "sealed" };
/** A run whose first turn is compacted by the server. */
const compactedRun: Partial<KilledRunOptions> = {
  script: [[sealed, functionCall("look", {}, "call_1")], [message("Done.")]],
  adapter: { compaction },
};

/** Runs a script, and returns its records until a turn's. */
async function killAfterTurn(options: Partial<KilledRunOptions> = {}, turn = 1) {
  const runs = await KilledRuns.start({
    script: twoTurns,
    createPrompt: createLookPrompt,
    ...options,
  });
  const { whole } = await runs.runWhole();
  const count = countUntil(whole.records, "TurnCompleted", turn);
  return {
    runs,
    records: whole.records.slice(0, count),
    resume: (changes: Partial<KilledRunOptions> = {}, records = whole.records) =>
      runs.resumeAfter(records, count, changes),
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

const readInput = (text: string | undefined) => JSON.parse(text ?? "{}").input;

describe("a resumed evaluation", () => {
  it("replaces system text that has changed since, where it is", async () => {
    await using killed = await killAfterTurn();
    const createChanged = () => createTaskPrompt({ template: "Go on.", tools: [lookTool] });
    const { turns, response } = await killed.resume({ createPrompt: createChanged });
    expect(readInput(turns[0])).toMatchObject([
      { role: "system", content: expect.stringContaining("Go on.") },
      { type: "reasoning" },
      { type: "function_call" },
      { type: "function_call_output" },
    ]);
    expect(response.text).toBe("Done.");
  });

  it("drops reasoning that cannot be sent if responses are no longer stored", async () => {
    await using killed = await killAfterTurn();
    const { turns, bus } = await killed.resume({ adapter: { modelConfig: { store: false } } });
    const input = readInput(turns[0]);
    expect(input.map(({ type }: { type: string }) => type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
    ]);
    expect(bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "reasoning" }] }]);
  });

  it("discards a compaction for another model", async () => {
    await using killed = await killAfterTurn(compactedRun);
    const { turns, bus } = await killed.resume({ adapter: otherModel });
    expect(turns[0]).not.toContain("sealed");
    expect(bus.of("CompactionDiscarded")).toHaveLength(1);
    expect(bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "compaction" }] }]);
  });

  it("discards a compaction for another model again if its turn was lost", async () => {
    await using killed = await killAfterTurn(compactedRun);
    const { records } = await killed.resume({ adapter: otherModel });
    const lost = countUntil(records, "TurnCompleted", 2) - 1;
    const { turns, bus } = await killed.runs.resumeAfter(records, lost, { adapter: otherModel });
    expect(turns[0]).not.toContain("sealed");
    expect(bus.of("CompactionDiscarded")).toHaveLength(1);
  });

  it("drops calls whose container was lost while no process ran", async () => {
    const code = codeInterpreterTool({ container: { type: "auto" } });
    const error = { message: "Container with id 'cntr_1' not found.", code: "not_found" };
    const lost: WireAnswer = { status: 404, error };
    await using killed = await killAfterTurn({
      script: [
        [codeInterpreterCall("print(1)", ["1"]), functionCall("look", {}, "call_1")],
        lost, // only after the kill: the whole run repairs it in the same way
        [message("Done.")],
      ],
      createPrompt: () => createTaskPrompt({ tools: [lookTool], hostedTools: [code] }),
    });
    const { turns, bus, response } = await killed.resume();
    expect(turns).toHaveLength(2);
    expect(turns[0]).toContain("code_interpreter_call");
    expect(JSON.stringify(readInput(turns[1]))).not.toContain("code_interpreter_call");
    expect(bus.of("HistoryRepaired")).toMatchObject([
      { reason: expect.stringContaining("cntr_1") },
    ]);
    expect(response.hostedOutputs.get(code)).toMatchObject({ stdout: "1" });
  });

  it("leaves out hosted calls if their tool is no longer offered", async () => {
    await using killed = await killAfterTurn({
      script: [[webSearchCall("owls"), functionCall("look", {}, "call_1")], [message("Done.")]],
      createPrompt: () => createTaskPrompt({ tools: [lookTool], hostedTools: [webSearchTool()] }),
    });
    const { response } = await killed.resume({ createPrompt: createLookPrompt });
    expect([response.text, response.hostedCalls]).toEqual(["Done.", []]);
    expect(response.hostedOutputs.size).toBe(0);
  });

  it("sends nothing if the last turn is the answer", async () => {
    await using killed = await killAfterTurn({}, 2);
    const { requests, response, bus } = await killed.resume();
    expect([requests, response.text]).toEqual([[], "Done."]);
    expect(bus.of("PromptExecuted")).toMatchObject([{ text: "Done.", turns: 2 }]);
  });

  it.each([
    ["has no resume point", () => undefined],
    ["has a resume point of another form", () => ({ system: 0, user: null })],
    ["names items that do not exist", (point: object) => ({ ...point, system: 99 })],
    ["has other lists of items", (point: object) => ({ ...point, answer: "none" })],
    ["has another text", (point: object) => ({ ...point, compactedUser: 1 })],
  ])("is refused if the stored conversation %s", async (_what, change) => {
    await using killed = await killAfterTurn();
    const records = killed.records.map((line) => {
      const record = JSON.parse(line);
      for (const { event } of record.events ?? []) {
        if (event.type === "HistoryAdvanced") event.resumePoint = change(event.resumePoint);
      }
      return JSON.stringify(record);
    });
    await expect(killed.resume({}, records)).rejects.toThrow(
      /the session does not have the conversation with OpenAI after turn 1.* pass continue/,
    );
  });
});
