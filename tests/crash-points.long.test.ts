import { describe, expect, test } from "vitest";
import { crashCases } from "./support/crash/crash-cases.ts";
import { CrashScene } from "./support/crash/crash-scene.ts";
import { expectCrashCase } from "./support/crash/expect-crash-case.ts";
import { expectParkedCase, parkedCases } from "./support/crash/expect-parked-case.ts";

describe("a run on the scripted client that is killed is resumed with the same answer", () => {
  const options = { adapter: "scripted", store: "jsonl" } as const;

  for (const one of crashCases) {
    test(one.name, () => expectCrashCase(one, options));
  }

  for (const one of parkedCases) {
    test(one.name, () => expectParkedCase(one, options));
  }

  test("when a response is submitted to run in the background", async () => {
    const details = { delivery: "background" };
    const point = { at: "barrier turn-submitted", nth: 2 };
    await expectCrashCase({ name: "submitted", point }, { ...options, details });
  });

  test("three times, at the same point of the same turn and at a later one", async () => {
    await using scene = await CrashScene.create(options);
    await scene.crashAt({ at: "before note", flushed: true });
    await scene.crashAt({ at: "after note", flushed: true });
    await scene.crashAt({ at: "barrier turn-completed", nth: 2 });
    expect(await scene.finish()).toMatchObject({ output: { total: 5 } });
    expect(scene.ledger.listRequests()).toEqual([1, 2, 3, 4]);
    const noted = scene.ledger.list("started", "note");
    expect([noted.length, new Set(noted).size]).toEqual([3, 1]); // the same key each time
    expect(scene.ledger.list("started", "charge")).toHaveLength(1);
  });
});
