import { describe, expect, it } from "vitest";
import type { CompactionBackoff } from "../../adapter/context-compacted.ts";
import type { AdapterEvent } from "../../adapter/events.ts";
import { silentLogger } from "../../base/logger.ts";
import { resolveCompactionSettings } from "./compaction-config.ts";
import { CompactionPacer, judgeCompaction } from "./compaction-pacer.ts";

const settings = { thresholdTokens: 1_000, contextWindow: null };

function judge(tokensBefore: number, tokensAfter: number | null, earlier = 0) {
  const backoff = earlier > 0 ? { unhelpfulCount: earlier, nextAtTokens: 1 } : undefined;
  return judgeCompaction({ tokensBefore, tokensAfter }, backoff, settings);
}

describe("judgeCompaction()", () => {
  it("returns to the threshold after a compaction that saved at least 20 %", () => {
    expect(judge(1_000, 500)).toEqual({ savedRatio: 0.5, nextAtTokens: 1_000 });
    expect(judge(1_000, 800, 5)).toEqual({ savedRatio: 1 - 800 / 1_000, nextAtTokens: 1_000 });
  });

  it("doubles the distance with each compaction in a row that saved less", () => {
    const verdicts = [0, 1, 2, 3].map((earlier) => judge(2_000, 1_999, earlier));
    expect(verdicts.map(({ backoff }) => backoff)).toEqual([
      { unhelpfulCount: 1, nextAtTokens: 2_200 },
      { unhelpfulCount: 2, nextAtTokens: 2_400 },
      { unhelpfulCount: 3, nextAtTokens: 2_800 },
      { unhelpfulCount: 4, nextAtTokens: 3_600 },
    ]);
  });

  it("starts from the larger size if the conversation grew", () => {
    expect(judge(1_000, 1_500)).toMatchObject({ savedRatio: -0.5, nextAtTokens: 1_700 });
  });

  it("waits for new items if a helpful compaction did not get below the threshold", () => {
    const { nextAtTokens, backoff } = judge(3_000, 2_000, 4);
    expect([nextAtTokens, backoff]).toEqual([2_200, { unhelpfulCount: 0, nextAtTokens: 2_200 }]);
  });

  it.each([
    [1_000, null],
    [0, 10],
  ])("uses the threshold for %s tokens before and %s after", (before, after) => {
    expect(judge(before, after, 3)).toEqual({ savedRatio: null, nextAtTokens: 1_000 });
  });

  it("tries once more before the context window is full, and then backs off again", () => {
    const small = { thresholdTokens: 1_000, contextWindow: 2_000 };
    const earlier = { unhelpfulCount: 4, nextAtTokens: 1_500 };
    const before = judgeCompaction({ tokensBefore: 1_700, tokensAfter: 1_690 }, earlier, small);
    expect(before.nextAtTokens).toBe(1_800);
    const after = judgeCompaction({ tokensBefore: 1_801, tokensAfter: 1_800 }, earlier, small);
    expect(after.nextAtTokens).toBe(1_801 + 3_200);
  });

  it("returns safe integers after many compactions", () => {
    const { nextAtTokens } = judge(12_345.5, 12_345, 1_000);
    expect(Number.isSafeInteger(nextAtTokens)).toBe(true);
  });
});

function createPacer(backoff?: CompactionBackoff) {
  const warnings: string[] = [];
  const events: AdapterEvent[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const compaction = resolveCompactionSettings({ thresholdTokens: 1_000 }, "c", "local");
  const pacer = new CompactionPacer({ compaction, logger }, backoff, (event) => events.push(event));
  const compact = (tokensBefore: number, tokensAfter: number, bytesAfter: number) =>
    pacer.onCompacted(tokensBefore, pacer.judge({ tokensBefore, tokensAfter }), bytesAfter);
  return { pacer, warnings, events, compact };
}

describe("CompactionPacer", () => {
  it("starts from the threshold, or from a stored backoff above it", () => {
    expect(createPacer().pacer.limit).toBe(1_000);
    expect(createPacer({ unhelpfulCount: 1, nextAtTokens: 1_500 }).pacer.limit).toBe(1_500);
    expect(createPacer({ unhelpfulCount: 1, nextAtTokens: 500 }).pacer.limit).toBe(1_000);
  });

  it("warns once, even if some compactions help in between", () => {
    const { compact, warnings } = createPacer();
    compact(1_100, 1_000, 4_000);
    compact(1_300, 1_290, 4_000);
    compact(2_000, 100, 400);
    compact(1_100, 1_000, 4_000);
    expect(warnings).toHaveLength(1);
  });

  it("does not warn in a session that has backed off already", () => {
    const { compact, warnings, pacer } = createPacer({ unhelpfulCount: 1, nextAtTokens: 1_500 });
    compact(1_600, 1_590, 6_000);
    expect([pacer.limit, warnings.length]).toEqual([2_000, 0]);
  });

  it("backs off if the provider's count shows that a compaction did not help", () => {
    const { pacer, compact, events, warnings } = createPacer();
    compact(5_000, 100, 400); // an attached file that was not counted in the estimate
    expect(pacer.limit).toBe(1_000);
    pacer.onMeasured(4_990, 500);
    expect(pacer.limit).toBe(5_200);
    expect(events).toMatchObject([
      { type: "CompactionMeasured", nextAtTokens: 5_200, backoff: { unhelpfulCount: 1 } },
    ]);
    expect(warnings).toHaveLength(1);
  });

  it("returns to the threshold if the provider's count shows that a compaction helped", () => {
    const { pacer, compact, events } = createPacer();
    compact(2_000, 1_990, 8_000);
    pacer.onMeasured(600, 8_000);
    expect(pacer.limit).toBe(1_000);
    expect(events).toMatchObject([{ type: "CompactionMeasured", nextAtTokens: 1_000 }]);
  });

  it("ignores counts that new items explain, and every count but the first", () => {
    const { pacer, compact, events } = createPacer();
    compact(2_000, 500, 2_000);
    pacer.onMeasured(1_900, 3_500); // 1,500 bytes may be 1,400 tokens
    pacer.onMeasured(1_900, 2_000);
    expect([pacer.limit, events.length]).toEqual([1_000, 0]);
  });
});
