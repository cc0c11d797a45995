import { describe, expect, test } from "vitest";
import { RunModel } from "./run-model.ts";

const started = { type: "EvaluationStarted", promptName: "baker", isResumed: false };
const nested = { nested: true, promptName: "taster" };
const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 1 });
const turn = (number: number, costUsd: number, more: object = {}) => ({
  ...{ type: "TurnCompleted", turn: number, text: "", toolCalls: [], hostedCalls: [] },
  ...{ promptName: "baker", usage: usage(9), costUsd, ...more },
});
const end = (inputTokens: number, costUsd: number, more: object = {}) => ({
  ...{ type: "PromptExecuted", promptName: "baker", text: "Done." },
  ...{ usage: usage(inputTokens), costUsd, ...more },
});

function summarize(...events: readonly object[]) {
  const model = new RunModel();
  for (const event of events) model.add({ kind: "event", event });
  model.settle();
  const { turns, usage: total, usd } = model.summarize("s", null);
  return { turns, inputTokens: total.inputTokens, totalTokens: total.totalTokens, usd };
}

describe("the tokens and the cost of a session", () => {
  test("include nested evaluations, whose turns do not count", () => {
    expect(
      summarize(
        ...[started, turn(1, 0.25), turn(1, 0.5, nested), turn(2, 0.5, nested)],
        ...[end(18, 1, nested), turn(2, 0.25), end(18, 0.5)],
      ),
    ).toEqual({ turns: 2, inputTokens: 36, totalTokens: 40, usd: 1.5 });
  });

  test("include work after the last turn, such as a compaction", () => {
    const session = [started, turn(1, 0.25), end(29, 1)];
    expect(summarize(...session)).toEqual({
      ...{ turns: 1, inputTokens: 29, totalTokens: 30, usd: 1 },
    });
    const inner = [turn(1, 0.25, nested), end(29, 1, nested)];
    expect(summarize(started, turn(1, 0.25), ...inner)).toMatchObject({
      totalTokens: 40,
      usd: 1.25,
    });
  });

  test("are those of the turns if the end reports less", () => {
    expect(summarize(started, turn(1, 0.25), turn(2, 0.5), end(1, 0))).toMatchObject({
      ...{ totalTokens: 20, usd: 0.75 },
    });
    const huge = { usage: usage(Number.MAX_VALUE) };
    expect(summarize(turn(1, 0, huge), turn(2, 0, huge), end(1, 0, huge)).usd).toBe(0);
  });

  test("count each turn once if a parked evaluation resumes", () => {
    const parked = { type: "PromptFailed", errorName: "EvaluationParkedError" };
    const resumed = { ...started, isResumed: true };
    expect(
      summarize(
        ...[started, turn(1, 0.25), end(9, 0.25, parked)],
        ...[resumed, turn(2, 0.25), end(18, 0.5)],
      ),
    ).toEqual({ turns: 2, inputTokens: 18, totalTokens: 20, usd: 0.5 });
  });

  test("count each turn once if nested evaluations of one prompt run at the same time", () => {
    expect(
      summarize(
        ...[started, turn(1, 0.5, nested), turn(1, 0.5, nested), end(9, 0.5, nested)],
        ...[turn(2, 0.5, nested), end(18, 1, nested)],
      ),
    ).toEqual({ turns: 0, inputTokens: 27, totalTokens: 30, usd: 1.5 });
  });

  test("begin anew with an evaluation after an interrupted one", () => {
    expect(summarize(started, turn(1, 0.5), started, turn(1, 0.5), end(29, 2))).toMatchObject({
      ...{ totalTokens: 40, usd: 2.5 },
    });
  });
});

test("names of the summary are short, and invisible characters in them are escaped", () => {
  const name = `\u202e${"x".repeat(100_000)}`;
  const model = new RunModel();
  for (const type of ["EvaluationStarted", "TurnCompleted", "PromptExecuted"]) {
    model.add({ kind: "event", event: { type, promptName: name, adapter: name, model: name } });
  }
  const { promptName, adapter, model: answering } = model.summarize("s", null);
  for (const shown of [promptName, adapter, answering]) {
    expect(shown).toMatch(/^\\u\{202e\}x{180,195}…$/);
  }
});
