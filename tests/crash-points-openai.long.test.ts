import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { getTurn } from "./support/crash/adapters/openai-crash.ts";
import { answerCrashTurn } from "./support/crash/answer-crash-turn.ts";
import { crashCases } from "./support/crash/crash-cases.ts";
import { CrashScene } from "./support/crash/crash-scene.ts";
import { crashTurns } from "./support/crash/crash-turns.ts";
import { expectCrashCase } from "./support/crash/expect-crash-case.ts";
import { expectParkedCase, parkedCases } from "./support/crash/expect-parked-case.ts";
import { startWireServer, type WireServer } from "./support/wire-server.ts";

describe("a run on OpenAI's adapter that is killed is resumed with the same answer", {
  timeout: 180_000, // a test starts several processes, one after the other
}, () => {
  let server: WireServer;
  beforeAll(async () => {
    server = await startWireServer(answerCrashTurn);
  });
  afterAll(async () => {
    await server.close();
  });
  const createOptions = (details: Readonly<Record<string, string>> = {}) =>
    ({ adapter: "openai", store: "jsonl", details: { url: server.url, ...details } }) as const;

  for (const one of crashCases) {
    test(one.name, () => expectCrashCase(one, createOptions()));
  }

  for (const one of parkedCases) {
    test(one.name, () => expectParkedCase(one, createOptions()));
  }

  test("between turns whose items the provider does not store", async () => {
    const point = { at: "barrier turn-completed", nth: 2 };
    await expectCrashCase({ name: "sealed", point }, createOptions({ store: "false" }));
  });

  test("three times, at the same point of the same turn and at a later one", async () => {
    await using scene = await CrashScene.create(createOptions());
    await scene.crashAt({ at: "before note", flushed: true });
    await scene.crashAt({ at: "after note", flushed: true });
    await scene.crashAt({ at: "barrier turn-completed", nth: 2 });
    expect(await scene.finish()).toMatchObject({ output: { total: 5 } });
    expect(scene.ledger.listRequests()).toEqual([1, 2, 3, 4]);
    expect(scene.ledger.list("started", "charge")).toHaveLength(1);
  });
});

/** Chooses the actions of the turn that the conversation has reached. */
function chooseActions(turn: number): readonly ModelAction[] {
  const planned = crashTurns[turn - 1];
  if (!planned) throw new Error(`There is no turn ${turn}.`);
  if ("text" in planned) return [{ say: planned.text }];
  return planned.calls.map(({ name, callId }) => ({ call: { name, callId, args: {} } }));
}

describe("a run on the local provider that is killed is resumed with the same answer", {
  timeout: 180_000, // a test starts several processes, one after the other
}, () => {
  let provider: LocalProvider;
  let url: string;
  beforeAll(async () => {
    const model = scriptedModel(({ items }) =>
      chooseActions(getTurn(items.map((item) => ({ ...item })))),
    );
    provider = new LocalProvider({ model });
    ({ url } = await provider.listen());
  });
  afterAll(async () => {
    await provider.close();
  });

  for (const one of parkedCases) {
    test(one.name, () =>
      expectParkedCase(one, { adapter: "openai", store: "jsonl", details: { url } }),
    );
  }
});
