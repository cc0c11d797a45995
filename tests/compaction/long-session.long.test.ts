import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type StepRequest,
  spawnStepProcess,
  startStepProvider,
} from "../support/compaction/long-session.ts";
import {
  addToSum,
  type ProgressLine,
  STEPS_PER_EVALUATION,
  THRESHOLD_TOKENS,
} from "../support/compaction/long-session-main.ts";

const STEPS = 2_000;
/** The number of steps of the session that is killed; fewer, because each takes time. */
const STEPS_AROUND_A_CRASH = Number(process.env["WINK_STEPS"] ?? 600);
const MEGABYTE = 2 ** 20;

/** Counts turns: one per step, plus the last answer of each evaluation. */
const countTurns = (steps: number) => steps + Math.ceil(steps / STEPS_PER_EVALUATION);

describe("a session of 2,000 turns", { timeout: 180_000 }, () => {
  it("does not grow in request size, compactions or memory", async () => {
    const { url, requests } = await startStepProvider();
    const { lines, failed } = await spawnStepProcess(url, await createTemporaryFolder(), STEPS)
      .ended;
    expect(failed).toBe("");
    expect(lines.at(-1)).toMatchObject({ is: "done", answer: `Reached ${STEPS}.` });

    const turns = requests.filter(({ path }) => path === "/responses");
    expect(turns).toHaveLength(countTurns(STEPS));
    expect(requests.filter(({ status, orphans }) => status !== 200 || orphans > 0)).toEqual([]);
    // The second half sends, counts and compacts no more than the first: the cost of a turn is bounded.
    const [early, late] = splitInHalf(requests);
    expect(findMax(late, "bytes")).toBeLessThan(1.05 * findMax(early, "bytes"));
    expect(findMax(late, "items")).toBeLessThan(1.05 * findMax(early, "items"));
    expect(findMax(requests, "bytes")).toBeLessThan(4.1 * THRESHOLD_TOKENS);
    for (const path of ["/responses/compact", "/responses/input_tokens"]) {
      const [before, after] = [early, late].map((half) => countRequests(half, path));
      expect(Math.abs(Number(after) - Number(before)), path).toBeLessThanOrEqual(3);
    }
    expect(countRequests(requests, "/responses/compact")).toBe(
      lines.filter(({ is }) => is === "compacted").length,
    );
    expect(countRequests(late, "/responses/compact")).toBeGreaterThan(8);
    // Until then, the engine still compiles and optimizes code.
    const warm = findHeapSize(lines, STEPS / 2);
    expect(findHeapSize(lines, STEPS) - warm).toBeLessThan(MEGABYTE / 2);
  });

  it("ends with the same result after it was killed midway", async () => {
    const isMidway = Promise.withResolvers<void>();
    const midway = STEPS_AROUND_A_CRASH / 2 + STEPS_PER_EVALUATION / 2;
    const { url, requests } = await startStepProvider(
      (step) => step === midway && isMidway.resolve(),
    );
    const directory = await createTemporaryFolder();
    const first = spawnStepProcess(url, directory, STEPS_AROUND_A_CRASH);
    await isMidway.promise;
    first.child.kill("SIGKILL");
    const { lines: before } = await first.ended;
    expect(before.some(({ is }) => is === "done")).toBe(false);
    expect(before.some(({ is }) => is === "compacted")).toBe(true);

    const { lines, failed } = await spawnStepProcess(url, directory, STEPS_AROUND_A_CRASH).ended;
    expect(failed).toBe("");
    expect(lines.filter(({ is }) => is === "at").length).toBeLessThan(
      STEPS_AROUND_A_CRASH / STEPS_PER_EVALUATION,
    );
    expect(lines.at(-1)).toEqual({
      is: "done",
      ledger: { step: STEPS_AROUND_A_CRASH, sum: computeSum(STEPS_AROUND_A_CRASH) },
      answer: `Reached ${STEPS_AROUND_A_CRASH}.`,
    });
    const isWrong = ({ status, orphans }: StepRequest) => status !== 200 || orphans > 0;
    expect(requests.filter(isWrong)).toEqual([]);
    // Only the requests that the crash interrupted were repeated.
    const turns = countRequests(requests, "/responses") - countTurns(STEPS_AROUND_A_CRASH);
    expect(turns).toBeLessThanOrEqual(5);
  });
});

async function createTemporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "wink-long-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

function splitInHalf(
  requests: readonly StepRequest[],
): readonly [readonly StepRequest[], readonly StepRequest[]] {
  const middle = Math.floor(requests.length / 2);
  return [requests.slice(0, middle), requests.slice(middle)];
}

function findMax(requests: readonly StepRequest[], what: "bytes" | "items"): number {
  return Math.max(...requests.map((one) => one[what]));
}

function countRequests(requests: readonly StepRequest[], path: string): number {
  return requests.filter((one) => one.path === path).length;
}

/** Returns the smallest heap size of that evaluation and the two before it, to reduce noise. */
function findHeapSize(lines: readonly ProgressLine[], step: number): number {
  const near = lines.filter(
    (one) =>
      one.is === "at" &&
      one.ledger.step <= step &&
      one.ledger.step > step - 3 * STEPS_PER_EVALUATION,
  );
  return Math.min(...near.map((one) => (one.is === "at" ? one.heap : Number.NaN)));
}

/** Computes the ledger's sum if every step was counted once and in order. */
function computeSum(steps: number): number {
  return Array.from({ length: steps }, (_, index) => index + 1).reduce(addToSum, 0);
}
