import { expect } from "vitest";
import { type CrashCase, crashCases } from "../../crash/crash-cases.ts";
import type { CrashSceneOptions } from "../../crash/crash-scene.ts";
import { expectLedger } from "../../crash/expect-crash-case.ts";
import type { ParkedCase } from "../../crash/expect-parked-case.ts";
import { FleetCrashScene } from "./fleet-crash-scene.ts";

/** A crash case, and how often the run was claimed when it is done. */
export interface FleetCrashCase extends CrashCase {
  /** @default 2 */
  readonly attempts?: number;
}

/** The rows of the failure matrix: moments of the evaluation, and of the attempt around it. */
export const fleetCrashCases: readonly FleetCrashCase[] = [
  { name: "between fetch and claim", point: { at: "fleet job-fetched" }, attempts: 1 },
  { name: "when its run is claimed", point: { at: "fleet run-claimed" } },
  ...crashCases,
  {
    name: "when its run has ended, before the end is stored",
    point: { at: "fleet attempt-ended" },
  },
  { name: "within the transaction that stores the end", point: { at: "fleet end-written" } },
  { name: "when its run is settled", point: { at: "fleet run-settled" }, attempts: 1 },
];

/** Kills a worker at a case's point, lets another one continue, and compares the run with the failure matrix. */
export async function expectFleetCrashCase(
  { point, attempts = 2, ...expected }: FleetCrashCase,
  options: Omit<CrashSceneOptions, "store">,
): Promise<void> {
  await using scene = await FleetCrashScene.create(options);
  await scene.crashAt(point);
  expect(await scene.finish()).toMatchObject({ output: { total: 5 } });
  expectLedger(scene.ledger, expected);
  const { attempt, lost, state } = await scene.find();
  expect({ attempt, lost, state }).toEqual({
    attempt: attempts,
    lost: attempts - 1,
    state: "done",
  });
}

/** Kills a worker when calls wait for approval, lets another one park the run, and approves them. */
export async function expectParkedFleetCase(
  { tool }: ParkedCase,
  options: Omit<CrashSceneOptions, "store">,
): Promise<void> {
  const details = { ...options.details, needsApproval: tool };
  await using scene = await FleetCrashScene.create({ ...options, details });
  await scene.crashAt({ at: "barrier parked" });
  expect(scene.ledger.list("started", tool)).toEqual([]);
  expect(await scene.finish()).toMatchObject({ output: { total: 5 } });
  const keys = new Set(scene.ledger.list("waiting", tool));
  expect(scene.ledger.list("started", tool)).toEqual([...keys]);
  expectLedger(scene.ledger);
}
