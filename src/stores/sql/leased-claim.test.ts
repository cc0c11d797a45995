import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LeasedClaim } from "./leased-claim.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes a claim with a lease of 300 ms on tables that answer with `renew`. */
function createClaim(renew: () => Promise<boolean>) {
  const released: number[] = [];
  const tables = {
    renew,
    release: async (_id: string, fence: number) => void released.push(fence),
  };
  const made = {
    id: "s",
    owner: "worker 7",
    fence: 5,
    since: "2026-11-17T00:00:00.000Z",
    records: 2,
  };
  return { claim: new LeasedClaim({ ...made, tables, leaseMs: 300 }), released };
}

test("a claim is extended three times per lease, until it is released once", async () => {
  let renewals = 0;
  const { claim, released } = createClaim(async () => ++renewals > 0);
  await vi.advanceTimersByTimeAsync(900);
  expect(renewals).toBe(9);
  await claim.release();
  await claim.release();
  expect([released, vi.getTimerCount()]).toEqual([[5], 0]);
});

test("a claim is no longer extended after another one was made", async () => {
  let renewals = 0;
  const { claim } = createClaim(async () => ++renewals < 0);
  await vi.advanceTimersByTimeAsync(900);
  expect([renewals, vi.getTimerCount()]).toEqual([1, 0]);
  await claim.release();
});

test("a claim is extended again after the database has failed", async () => {
  let renewals = 0;
  const { claim } = createClaim(async () => {
    renewals += 1;
    throw new Error("the server restarts");
  });
  await vi.advanceTimersByTimeAsync(200);
  expect(renewals).toBe(2);
  await claim.release();
});

test("a slow database is asked to extend a claim once at a time", async () => {
  const answers: (() => void)[] = [];
  const { claim } = createClaim(() => new Promise((resolve) => answers.push(() => resolve(true))));
  await vi.advanceTimersByTimeAsync(500);
  expect(answers).toHaveLength(1);
  answers[0]?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(answers).toHaveLength(2);
  await claim.release();
});
