import { expect } from "vitest";
import { type CrashCase, usualAnswers, usualEffects } from "./crash-cases.ts";
import type { CrashLedger } from "./crash-ledger.ts";
import { CrashScene, type CrashSceneOptions } from "./crash-scene.ts";
import { crashTurns } from "./crash-turns.ts";

/** Kills a run at a case's point, resumes it, and compares it with the failure matrix. */
export async function expectCrashCase(
  { point, ...expected }: CrashCase,
  options: CrashSceneOptions,
): Promise<void> {
  await using scene = await CrashScene.create(options);
  await scene.crashAt(point);
  const answer = await scene.finish();
  expect(withoutTotals(answer)).toEqual(withoutTotals(await readUsualAnswer(options)));
  expectLedger(scene.ledger, expected);
}

/** Expects a resumed run's requests and effects. By default they are those of a run without a crash. */
export function expectLedger(
  ledger: CrashLedger,
  {
    requests = [1, 2, 3, 4],
    effects = {},
    unknown = [],
  }: Pick<CrashCase, "requests" | "effects" | "unknown"> = {},
): void {
  expect(ledger.listRequests()).toEqual(requests);
  const tools = Object.keys(usualEffects);
  expect(countEach(tools, (tool) => ledger.list("effect", tool).length)).toEqual({
    ...usualEffects,
    ...effects,
  });
  expectOnce(ledger);
  expect(listUnknown(ledger)).toEqual(unknown);
  expect(ledger.listEvents("ReducerFailed")).toEqual([]);
}

/**
 * Removes the requests, which are reported for the last process, and the cost, which is estimated for turns of a killed
 * Claude Agent SDK.
 */
function withoutTotals({
  costUsd: _cost,
  egress: _egress,
  ...answer
}: Readonly<Record<string, unknown>>) {
  return answer;
}

/** Expects that no `once` call was started twice, unless `reconcile` allowed it. */
function expectOnce(ledger: CrashLedger): void {
  for (const tool of ["charge", "ship"]) {
    const keys = ledger.list("started", tool);
    expect(keys).toHaveLength(new Set(keys).size);
  }
  const booked = ledger.list("effect", "book");
  expect(booked).toHaveLength(new Set(booked).size);
}

/** Returns the ids of the calls whose answers differ from the usual ones, which must be unknown outcomes. */
function listUnknown(ledger: CrashLedger): readonly string[] {
  return crashTurns.flatMap((turn, index) => {
    if (!("calls" in turn)) return [];
    const answers = ledger.readAnswers(index + 2);
    const usual = usualAnswers[index + 2] ?? [];
    if (ledger.listRequests().includes(index + 2)) expect(answers).toHaveLength(usual.length);
    return turn.calls.flatMap(({ callId }, call) => {
      if (answers[call] === undefined || answers[call] === usual[call]) return [];
      expect(answers[call]).toMatch(/started before the process was lost/);
      return [callId];
    });
  });
}

function countEach(names: readonly string[], count: (name: string) => number) {
  return Object.fromEntries(names.map((name) => [name, count(name)]));
}

const usualAnswerTexts = new Map<string, Promise<Readonly<Record<string, unknown>>>>();

/** Returns the answer without a crash. It runs once for each adapter, store and server. */
export async function readUsualAnswer(options: CrashSceneOptions) {
  const { adapter, store, details = {} } = options;
  const key = `${adapter} ${store} ${details["url"]}`;
  const known = usualAnswerTexts.get(key);
  if (known) return await known;
  const run = async () => {
    await using scene = await CrashScene.create(options);
    const answer = await scene.finish();
    const { ledger } = scene;
    expect(listUnknown(ledger)).toEqual([]);
    const tools = Object.keys(usualEffects);
    expect(countEach(tools, (tool) => ledger.list("effect", tool).length)).toEqual(usualEffects);
    return answer;
  };
  const running = run();
  usualAnswerTexts.set(key, running);
  return await running;
}
