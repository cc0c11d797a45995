import { describe, expect, it } from "vitest";
import { Budget, BudgetExceededError, Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { sealedItem } from "../../../tests/support/compaction/routes.ts";
import { add, calling, compacting, three } from "../../../tests/support/compaction/stage.ts";
import { systemMessage } from "../../../tests/support/openai-run.ts";
import { message } from "../../../tests/support/wire-server.ts";
import { compactionSlice } from "../compaction/compaction-state.ts";
import { CompactionError } from "../errors/errors.ts";
import { historySlice } from "../history/history-slice.ts";

const refused = { status: 400, error: { message: "It is too long." } };
const throttled = { status: 429, error: { message: "Slow down." } };
const down = { status: 503, error: { message: "Down for a moment." } };

describe("a compaction that fails", () => {
  it("midway ends the evaluation with an error that says why, and the session is as before", async () => {
    const at = await compacting([calling, three], { tokens: 51, window: () => refused });
    const failure = await at.failure();
    expect(failure).toBeInstanceOf(CompactionError);
    expect(failure).toMatchObject({
      tokenCount: 51,
      promptName: "test:run",
      phase: "request",
      originalError: { name: "OpenAIRequestError", status: 400 },
      partial: { usage: { totalTokens: 60 } },
    });
    expect(at.turns).toHaveLength(1);
    expect(at.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(at.session.get(historySlice)).toHaveLength(2);
    expect(at.bus.of("ContextCompacted")).toEqual([]);
  });

  it("because the provider will not count is one too", async () => {
    const at = await compacting([calling, three], { tokens: () => refused });
    expect(await at.failure()).toMatchObject({
      name: "CompactionError",
      tokenCount: 60,
      message: expect.stringContaining("POST /responses/input_tokens"),
    });
  });

  it("after the last answer leaves the answer, and is told in an event", async () => {
    const at = await compacting([[add], three], {
      tokens: (nth) => (nth === 1 ? 50 : 51),
      window: () => refused,
    });
    const response = await at.evaluate();
    expect(response.text).toBe("Three.");
    expect(at.bus.of("CompactionFailed")).toMatchObject([
      { tokenCount: 51, reason: expect.stringContaining("It is too long"), promptName: "test:run" },
    ]);
    expect(at.logged.map(([said]) => said)).toContain("the conversation could not be compacted");
    expect(at.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(at.session.get(historySlice)).toHaveLength(4);
  });
});

describe("a compaction", () => {
  it("is waited for while the provider is throttled, and so is the count before it", async () => {
    const at = await compacting([calling, [message("Three.")]], {
      tokens: (nth) => (nth < 3 ? throttled : 51),
      window: (nth) => (nth < 3 ? throttled : [sealedItem(nth)]),
    });
    await at.evaluate();
    expect([at.counts.length, at.compactions.length, at.turns.length]).toEqual([3, 3, 2]);
    expect(at.turns[1]?.body["input"]).toEqual([systemMessage, sealedItem(3)]);
  });

  it("is given up when the throttle policy says so", async () => {
    const at = await compacting([calling], { tokens: 51, window: () => throttled });
    expect(await at.failure()).toMatchObject({
      name: "CompactionError",
      originalError: { status: 429 },
    });
    expect(at.compactions).toHaveLength(3);
  });

  it("is over when the deadline passes while it waits", async () => {
    const clock = fakeClock({ skipsSleep: true });
    const patient = { maxAttempts: 100, baseDelayMs: 30_000, maxDelayMs: 30_000 };
    const at = await compacting([calling], {
      clock,
      tokens: 51,
      window: () => ({ ...throttled, headers: { "retry-after": "30" } }),
      adapter: { compaction: { thresholdTokens: 50 }, throttle: patient },
    });
    const failure = await at.failure({ deadline: Deadline.after(100_000, clock) });
    expect(failure).toBeInstanceOf(DeadlineExceededError);
    expect(at.compactions.length).toBeLessThan(10);
    expect(at.session.get(compactionSlice)).toEqual(compactionSlice.initial);
  });

  it("counts against the budget", async () => {
    const within = await compacting([calling, calling, three], { tokens: 51 });
    const failure = await within.failure({ budget: new Budget({ maxTotalTokens: 219 }) });
    expect(failure).toBeInstanceOf(BudgetExceededError);
    expect(failure).toMatchObject({ dimension: "totalTokens", used: 220, limit: 219 });
    expect(within.turns).toHaveLength(2);
  });

  it("ends at once when the evaluation is cancelled, with the reason and nothing changed", async () => {
    const controller = new AbortController();
    const reason = new Error("Enough.");
    const at = await compacting([calling], {
      tokens: 51,
      window: () => {
        setTimeout(() => controller.abort(reason), 5);
        return { stall: true };
      },
    });
    expect(await at.failure({ signal: controller.signal })).toBe(reason);
    expect(at.session.get(compactionSlice)).toEqual(compactionSlice.initial);
    expect(at.session.get(historySlice)).toHaveLength(2);
  });

  it("is cancelled after the last answer as well", async () => {
    const controller = new AbortController();
    const reason = new Error("Enough.");
    const at = await compacting([[add], three], {
      tokens: (nth) => (nth === 1 ? 50 : 51),
      window: () => {
        setTimeout(() => controller.abort(reason), 5);
        return { stall: true };
      },
    });
    expect(await at.failure({ signal: controller.signal })).toBe(reason);
    expect(at.bus.of("CompactionFailed")).toEqual([]);
  });

  it("stands when the request after it fails: that is sent again, and no item twice", async () => {
    const at = await compacting([calling, down, down, [message("Three.")]], { tokens: 51 });
    await at.evaluate();
    expect(at.compactions).toHaveLength(1);
    expect(at.turns.slice(1).map(({ body }) => body["input"])).toEqual(
      [1, 2, 3].map(() => [systemMessage, sealedItem(1)]),
    );
    expect(at.additions).toHaveLength(1);
    expect(at.bus.of("HistoryRepaired")).toEqual([]);
    expect(at.session.get(historySlice)).toHaveLength(3);
  });

  it("is what the next evaluation goes on from, though the request after it failed for good", async () => {
    const gone = { status: 400, error: { message: "No." } };
    const at = await compacting([calling, gone, [message("Four.")]], { tokens: 51 });
    await at.failure();
    await at.evaluate();
    expect(at.turns[2]?.body["input"]).toEqual([systemMessage, sealedItem(1)]);
  });
});
