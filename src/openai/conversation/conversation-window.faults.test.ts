import { describe, expect, it } from "vitest";
import { Budget, BudgetExceededError, Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { createEncryptedItem } from "../../../tests/support/compaction/compaction-routes.ts";
import {
  addCall,
  answerTurn,
  callTurn,
  startCompactionRun,
} from "../../../tests/support/compaction/compaction-run.ts";
import { systemMessage } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { CompactionError } from "../errors/errors.ts";
import { historySlice } from "../history/history-slice.ts";

const rejected = { status: 400, error: { message: "It is too long." } };
const throttled = { status: 429, error: { message: "Slow down." } };
const down = { status: 503, error: { message: "Down for a moment." } };

describe("a failed compaction", () => {
  it("ends the evaluation with a CompactionError and leaves the session unchanged", async () => {
    const run = await startCompactionRun([callTurn, answerTurn], {
      tokens: 51,
      window: () => rejected,
    });
    const failure = await run.getFailure();
    expect(failure).toBeInstanceOf(CompactionError);
    expect(failure).toMatchObject({
      tokenCount: 51,
      promptName: "test:run",
      phase: "request",
      originalError: { name: "OpenAIRequestError", status: 400 },
      partial: { usage: { totalTokens: 60 } },
    });
    expect(run.turns).toHaveLength(1);
    expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(run.session.get(historySlice)).toHaveLength(2);
    expect(run.bus.of("ContextCompacted")).toEqual([]);
  });

  it("is also reported when the provider rejects the token count", async () => {
    const run = await startCompactionRun([callTurn, answerTurn], { tokens: () => rejected });
    expect(await run.getFailure()).toMatchObject({
      name: "CompactionError",
      tokenCount: 60,
      message: expect.stringContaining("POST /responses/input_tokens"),
    });
  });

  it("has an estimate of the tokens if the provider has not counted any yet", async () => {
    const run = await startCompactionRun([[addCall], answerTurn, [message("Four.")]], {
      tokens: (nth) => (nth < 3 ? 50 : rejected),
    });
    await run.evaluate();
    const failure = await run.getFailure({ continue: true });
    expect(failure).toBeInstanceOf(CompactionError);
    expect((failure as CompactionError).tokenCount).toBeGreaterThan(50);
  });

  it("does not hide that the provider cannot read the history", async () => {
    const error = { message: "It could not be verified.", code: "invalid_encrypted_content" };
    const unreadable = { status: 400, error };
    const run = await startCompactionRun([[addCall], unreadable], { tokens: () => unreadable });
    const failure = await run.getFailure();
    expect(failure).not.toBeInstanceOf(CompactionError);
    expect(failure).toMatchObject({ message: expect.stringContaining("It could not be verified") });
    expect([run.turns.length, run.compactions.length]).toEqual([2, 0]);
  });

  it("publishes CompactionFailed after the last answer and keeps the answer", async () => {
    const run = await startCompactionRun([[addCall], answerTurn], {
      tokens: (nth) => (nth === 1 ? 50 : 51),
      window: () => rejected,
    });
    const response = await run.evaluate();
    expect(response.text).toBe("Three.");
    expect(run.bus.of("CompactionFailed")).toMatchObject([
      { tokenCount: 51, reason: expect.stringContaining("It is too long"), promptName: "test:run" },
    ]);
    expect(run.logged.map(([text]) => text)).toContain("could not compact the conversation");
    expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(run.session.get(historySlice)).toHaveLength(4);
  });
});

describe("a compaction", () => {
  it("is retried while the provider throttles, and so is the token count", async () => {
    const run = await startCompactionRun([callTurn, [message("Three.")]], {
      tokens: (nth) => (nth < 3 ? throttled : 51),
      window: (nth) => (nth < 3 ? throttled : [createEncryptedItem(nth)]),
    });
    await run.evaluate();
    expect([run.counts.length, run.compactions.length, run.turns.length]).toEqual([3, 3, 2]);
    expect(run.turns[1]?.body["input"]).toEqual([systemMessage, createEncryptedItem(3)]);
  });

  it("fails after the attempts of the throttle policy", async () => {
    const run = await startCompactionRun([callTurn], { tokens: 51, window: () => throttled });
    expect(await run.getFailure()).toMatchObject({
      name: "CompactionError",
      originalError: { status: 429 },
    });
    expect(run.compactions).toHaveLength(3);
  });

  it("ends with the deadline while it waits to retry", async () => {
    const clock = fakeClock({ skipsSleep: true });
    const throttle = { maxAttempts: 100, baseDelayMs: 30_000, maxDelayMs: 30_000 };
    const run = await startCompactionRun([callTurn], {
      clock,
      tokens: 51,
      window: () => ({ ...throttled, headers: { "retry-after": "30" } }),
      adapter: { compaction: { thresholdTokens: 50 }, throttle },
    });
    const failure = await run.getFailure({ deadline: Deadline.after(100_000, clock) });
    expect(failure).toBeInstanceOf(DeadlineExceededError);
    expect(run.compactions.length).toBeLessThan(10);
    expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
  });

  it("counts against the budget", async () => {
    const within = await startCompactionRun([callTurn, callTurn, answerTurn], { tokens: 51 });
    const failure = await within.getFailure({ budget: new Budget({ maxTotalTokens: 219 }) });
    expect(failure).toBeInstanceOf(BudgetExceededError);
    expect(failure).toMatchObject({ dimension: "totalTokens", used: 220, limit: 219 });
    expect(within.turns).toHaveLength(2);
  });

  it("is aborted with the evaluation and leaves the session unchanged", async () => {
    const controller = new AbortController();
    const reason = new Error("Enough.");
    const run = await startCompactionRun([callTurn], {
      tokens: 51,
      window: () => {
        setTimeout(() => controller.abort(reason), 5);
        return { stall: true };
      },
    });
    expect(await run.getFailure({ signal: controller.signal })).toBe(reason);
    expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(run.session.get(historySlice)).toHaveLength(2);
  });

  it.each(["cancellation", "deadline"])(
    "after the last answer ends with a %s without losing the answer, and the next evaluation compacts",
    async (cause) => {
      const controller = new AbortController();
      const limits = () =>
        cause === "deadline"
          ? { deadline: Deadline.after(1_500) }
          : { signal: controller.signal, deadline: Deadline.after(60_000) };
      const run = await startCompactionRun([[addCall], answerTurn, [message("Four.")]], {
        tokens: (nth) => (nth === 1 ? 50 : 51),
        window: (nth) => {
          setTimeout(() => controller.abort(new Error("Enough.")), 5);
          return nth === 1 ? { stall: true } : [createEncryptedItem(nth)];
        },
      });
      const response = await run.evaluate(limits());
      expect(response).toMatchObject({ text: "Three.", finishReason: "stop" });
      expect(run.bus.of("CompactionFailed")).toMatchObject([{ tokenCount: 51 }]);
      expect(run.bus.of("PromptExecuted")).toMatchObject([{ text: "Three." }]);
      expect(run.session.get(compactionSlice)).toEqual(compactionSlice.initial);
      expect(run.session.get(historySlice)).toHaveLength(4);
      const { text } = await run.evaluate({ continue: true });
      expect(text).toBe("Four.");
      expect(run.turns[2]?.body["input"]).toEqual([systemMessage, createEncryptedItem(2)]);
    },
  );

  it("after the last answer may exceed the budget without losing the answer", async () => {
    const run = await startCompactionRun([[addCall], answerTurn], {
      tokens: (nth) => (nth === 1 ? 50 : 51),
    });
    const response = await run.evaluate({ budget: new Budget({ maxTotalTokens: 100 }) });
    expect(response).toMatchObject({ text: "Three.", usage: { totalTokens: 15 + 60 + 100 } });
  });

  it("stays when the next request fails and is retried, without repeated items", async () => {
    const run = await startCompactionRun([callTurn, down, down, [message("Three.")]], {
      tokens: 51,
    });
    await run.evaluate();
    expect(run.compactions).toHaveLength(1);
    expect(run.turns.slice(1).map(({ body }) => body["input"])).toEqual(
      [1, 2, 3].map(() => [systemMessage, createEncryptedItem(1)]),
    );
    expect(run.additions).toHaveLength(1);
    expect(run.bus.of("HistoryRepaired")).toEqual([]);
    expect(run.session.get(historySlice)).toHaveLength(3);
  });

  it("is used by the next evaluation even if the request after it failed", async () => {
    const gone = { status: 400, error: { message: "No." } };
    const run = await startCompactionRun([callTurn, gone, [message("Four.")]], { tokens: 51 });
    await run.getFailure();
    await run.evaluate();
    expect(run.turns[2]?.body["input"]).toEqual([systemMessage, createEncryptedItem(1)]);
  });
});
