import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Asked, steppingProvider, takingSteps } from "../support/compaction/long-session.ts";
import {
  ledgerSum,
  type Said,
  STEPS_AN_EVALUATION,
  THRESHOLD_TOKENS,
} from "../support/compaction/long-session-main.ts";

const STEPS = 2_000;
/** Of the session that is killed: all of them take their time. */
const STEPS_AROUND_A_CRASH = Number(process.env["WINK_STEPS"] ?? 600);
const MEGABYTE = 2 ** 20;

/** Each step is one turn, and each evaluation says in one more that it is done. */
const turnsOf = (steps: number) => steps + Math.ceil(steps / STEPS_AN_EVALUATION);

describe("a session of two thousand turns", { timeout: 180_000 }, () => {
  it("stays as small and as cheap as it was early on", async () => {
    const { url, asked } = await steppingProvider();
    const { said, failed } = await takingSteps(url, await temporary(), STEPS).ended;
    expect(failed).toBe("");
    expect(said.at(-1)).toMatchObject({ is: "done", answer: `Reached ${STEPS}.` });

    const turns = asked.filter(({ path }) => path === "/responses");
    expect(turns).toHaveLength(turnsOf(STEPS));
    expect(asked.filter(({ status, orphans }) => status !== 200 || orphans > 0)).toEqual([]);
    // No more is sent, counted or compacted late than early: all that a turn costs is bounded.
    const [early, late] = halvesOf(asked);
    expect(most(late, "bytes")).toBeLessThan(1.05 * most(early, "bytes"));
    expect(most(late, "items")).toBeLessThan(1.05 * most(early, "items"));
    expect(most(asked, "bytes")).toBeLessThan(4.1 * THRESHOLD_TOKENS);
    for (const path of ["/responses/compact", "/responses/input_tokens"]) {
      const [before, after] = [early, late].map((half) => timesIn(half, path));
      expect(Math.abs(Number(after) - Number(before)), path).toBeLessThanOrEqual(3);
    }
    expect(timesIn(asked, "/responses/compact")).toBe(
      said.filter(({ is }) => is === "compacted").length,
    );
    expect(timesIn(late, "/responses/compact")).toBeGreaterThan(8);
    expect(heapAt(said, STEPS) - heapAt(said, 500)).toBeLessThan(MEGABYTE);
  });

  it("that is killed midway ends as one that was not", async () => {
    const isMidway = Promise.withResolvers<void>();
    const midway = STEPS_AROUND_A_CRASH / 2 + STEPS_AN_EVALUATION / 2;
    const { url, asked } = await steppingProvider((step) => step === midway && isMidway.resolve());
    const directory = await temporary();
    const first = takingSteps(url, directory, STEPS_AROUND_A_CRASH);
    await isMidway.promise;
    first.child.kill("SIGKILL");
    const { said: before } = await first.ended;
    expect(before.some(({ is }) => is === "done")).toBe(false);
    expect(before.some(({ is }) => is === "compacted")).toBe(true);

    const { said, failed } = await takingSteps(url, directory, STEPS_AROUND_A_CRASH).ended;
    expect(failed).toBe("");
    expect(said.filter(({ is }) => is === "at").length).toBeLessThan(
      STEPS_AROUND_A_CRASH / STEPS_AN_EVALUATION,
    );
    expect(said.at(-1)).toEqual({
      is: "done",
      ledger: { step: STEPS_AROUND_A_CRASH, sum: sumAfter(STEPS_AROUND_A_CRASH) },
      answer: `Reached ${STEPS_AROUND_A_CRASH}.`,
    });
    const isWrong = ({ status, orphans }: Asked) => status !== 200 || orphans > 0;
    expect(asked.filter(isWrong)).toEqual([]);
    // What was asked again is what the crash interrupted, and no more.
    const turns = timesIn(asked, "/responses") - turnsOf(STEPS_AROUND_A_CRASH);
    expect(turns).toBeLessThanOrEqual(5);
  });
});

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "wink-long-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

function halvesOf(asked: readonly Asked[]): readonly [readonly Asked[], readonly Asked[]] {
  const middle = Math.floor(asked.length / 2);
  return [asked.slice(0, middle), asked.slice(middle)];
}

function most(asked: readonly Asked[], what: "bytes" | "items"): number {
  return Math.max(...asked.map((one) => one[what]));
}

function timesIn(asked: readonly Asked[], path: string): number {
  return asked.filter((one) => one.path === path).length;
}

/** At the end of that evaluation or of one of the two before it: the least is not noise. */
function heapAt(said: readonly Said[], step: number): number {
  const near = said.filter(
    (one) =>
      one.is === "at" &&
      one.ledger.step <= step &&
      one.ledger.step > step - 3 * STEPS_AN_EVALUATION,
  );
  return Math.min(...near.map((one) => (one.is === "at" ? one.heap : Number.NaN)));
}

/** What every step leaves in the session's ledger, if each counts once and in order. */
function sumAfter(steps: number): number {
  return Array.from({ length: steps }, (_, place) => place + 1).reduce(ledgerSum, 0);
}
