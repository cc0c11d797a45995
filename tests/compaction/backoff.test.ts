import { describe, expect, it, onTestFinished } from "vitest";
import { Session } from "weakincentives";
import { compactionSlice, historySlice } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { startUnhelpfulSession } from "../support/compaction/unhelpful-session.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const strategies = ["endpoint", "server"] as const;
const warning =
  "a compaction saved less than 20 %. Raise the threshold, or shorten the prompt, its tools and the user messages.";

describe.each(strategies)(
  "a session whose compactions save little, with the strategy %s",
  (strategy) => {
    const compaction = { thresholdTokens: 2_000, strategy };

    it("uses about as many tokens as without compaction", async () => {
      const plain = await startUnhelpfulSession(null).run(60);
      const run = startUnhelpfulSession(compaction);
      const tokens = await run.run(60);
      expect(run.compacted.length).toBeGreaterThan(2);
      expect(run.compacted.length).toBeLessThan(6);
      expect(tokens).toBeLessThan(plain * 1.05);
    });

    it("doubles the distance to the next compaction, reports it, and warns once", async () => {
      const run = startUnhelpfulSession(compaction);
      await run.run(60);
      const unhelpful = run.compacted.slice(0, 3);
      for (const { savedRatio } of unhelpful) expect(savedRatio).toBeLessThan(0.2);
      const [first = 0, second = 0, third = 0] = unhelpful.map((event) => event.nextAtTokens);
      expect(first).toBeGreaterThan(2_000);
      // 400, 800 and 1,600 tokens above the size that exceeded the previous limit.
      expect((second - first) / 800).toBeCloseTo(1, 0);
      expect((third - second) / 1_600).toBeCloseTo(1, 0);
      expect(run.warnings).toEqual([warning]);
    });

    it("stays backed off in the next evaluation and after Session.open()", async () => {
      const [store, dataDir] = [new JsonlSessionStore(temporaryTree()), temporaryTree()];
      onTestFinished(() => store.close());
      const session = new Session({ id: "s", store });
      const first = startUnhelpfulSession(compaction, session, dataDir);
      await first.run(8);
      expect(first.compacted.length).toBeGreaterThan(0);
      const { backoff } = session.get(compactionSlice);
      expect(backoff).toEqual({
        unhelpfulCount: first.compacted.length,
        nextAtTokens: first.compacted.at(-1)?.nextAtTokens,
      });
      await first.close();
      await session.flush();
      const opened = await Session.open(store, "s", [historySlice, compactionSlice]);
      expect(opened.get(compactionSlice)).toEqual(session.get(compactionSlice));
      const next = startUnhelpfulSession(compaction, opened, dataDir);
      await next.run(1);
      const limit = backoff?.nextAtTokens ?? 0;
      for (const { tokensBefore } of next.compacted) expect(tokensBefore).toBeGreaterThan(limit);
      if (strategy === "server") expect(next.thresholds[0]).toBe(limit);
      expect(next.warnings).toEqual([]);
    });
  },
);

it("the threshold that the server gets moves with the backoff", async () => {
  const run = startUnhelpfulSession({ thresholdTokens: 2_000, strategy: "server" });
  await run.run(20);
  const limits = run.compacted.map(({ nextAtTokens }) => nextAtTokens);
  expect(limits.length).toBeGreaterThan(0);
  expect([...new Set(run.thresholds)]).toEqual([2_000, ...limits]);
});

it("a threshold can be a part of the context window", async () => {
  const run = startUnhelpfulSession({ thresholdRatio: 0.5, contextWindow: 4_000 });
  await run.run(3);
  // Ninety percent of the window, where a compaction is tried in any case.
  expect(run.compacted[0]).toMatchObject({ nextAtTokens: 3_600 });
});
