import { expect } from "vitest";
import { usualEffects } from "./crash-cases.ts";
import { CrashScene, type CrashSceneOptions } from "./crash-scene.ts";
import { expectLedger, readUsualAnswer } from "./expect-crash-case.ts";

/** A run whose calls to a tool wait for approval, and that is killed when everything up to there is stored. */
export interface ParkedCase {
  readonly name: string;
  readonly tool: string;
  /** Whether it is resumed once without approvals. @default false */
  readonly parksAgain?: boolean;
}

/** The rows of the failure matrix that concern approvals. */
export const parkedCases: readonly ParkedCase[] = [
  { name: "when a once call waits for approval", tool: "charge" },
  { name: "when parallel once calls wait for approval", tool: "ship" },
  {
    name: "when a call waits for approval after a once call, and parks again with the same keys",
    tool: "note",
    parksAgain: true,
  },
];

/** Kills a run at the barrier `parked`, resumes it with approvals, and expects the result of a run without a crash. */
export async function expectParkedCase(
  { tool, parksAgain = false }: ParkedCase,
  options: CrashSceneOptions,
): Promise<void> {
  const details = { ...options.details, needsApproval: tool };
  await using scene = await CrashScene.create({ ...options, details });
  const { ledger } = scene;
  await scene.crashAt({ at: "barrier parked" });
  const keys = ledger.list("waiting", tool);
  expect(keys).toHaveLength(usualEffects[tool] ?? 0);
  expect(ledger.list("started", tool)).toEqual([]);
  if (parksAgain) {
    const parked = await scene.park();
    expect(parked.map(({ key }) => key)).toEqual(keys);
    expect(ledger.list("started", tool)).toEqual([]);
  }
  const approvals = Object.fromEntries(keys.map((key) => [key, "approve" as const]));
  const { text, output, usage } = await scene.finish(approvals);
  const usual = await readUsualAnswer(options);
  expect({ text, output, usage }).toEqual({
    text: usual["text"],
    output: usual["output"],
    usage: usual["usage"],
  });
  expect(ledger.list("started", tool)).toEqual(keys);
  for (const [other, count] of Object.entries(usualEffects)) {
    expect(ledger.list("started", other)).toHaveLength(count);
  }
  expectLedger(ledger);
}
