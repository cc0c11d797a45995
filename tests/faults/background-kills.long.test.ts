import { describe, expect, test } from "vitest";
import type { ModelAction } from "weakincentives/local";
import { CrashScene } from "../support/crash/crash-scene.ts";
import { crashTurns } from "../support/crash/crash-turns.ts";
import { type Cut, startCuttingProxy } from "../support/faults/cutting-proxy.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";

/** The turns of the crash tests. The second takes longer than a second. */
const script = crashTurns.map((turn, index): ModelAction[] => {
  if (!("calls" in turn)) return [{ say: turn.text }];
  const calls = turn.calls.map(({ name, callId }) => ({ call: { name, callId, args: {} } }));
  return index === 1 ? [{ think: "Hm." }, { stall: 1_500 }, ...calls] : calls;
});

async function createScene(plan: () => Cut | null = () => null) {
  const { url } = await startProviderFixture(script);
  const proxy = await startCuttingProxy(url, plan);
  const options = { adapter: "background", store: "jsonl", details: { url: proxy.url } } as const;
  return { scene: await CrashScene.create(options), proxy };
}

describe("a process that is killed leaves its response to the next one", () => {
  test.each([
    ["when the response is submitted", { at: "barrier turn-submitted" }],
    ["when a later response is submitted", { at: "barrier turn-submitted", nth: 3 }],
    ["while the response runs", { at: "event TurnProgressed" }],
    ["when the response has arrived and is not stored", { at: "event TurnCompleted", nth: 2 }],
  ])("%s", async (_title, point) => {
    const { scene, proxy } = await createScene();
    await using disposable = scene;
    await disposable.crashAt(point);
    expect(await scene.finish()).toMatchObject({ output: { total: 5 }, usage: {} });
    expect(proxy.created).toBe(4);
    const submitted = scene.ledger.listEvents("TurnSubmitted").map(({ responseId }) => responseId);
    expect(new Set(submitted).size).toBe(4);
    expect(scene.ledger.listEvents("TurnResubmitted")).toEqual([]);
    expect(scene.ledger.list("effect", "charge")).toHaveLength(1);
  });

  test("also if every connection is cut and every process is killed", async () => {
    const { scene, proxy } = await createScene(() => ({ events: 4 }));
    await using disposable = scene;
    for (let kill = 0; kill < 4; kill++) {
      await disposable.crashAt({ at: "barrier turn-submitted" });
    }
    expect(await scene.finish()).toMatchObject({ output: { total: 5 } });
    expect(proxy.created).toBe(4);
  });

  test("and sends the turn again if the provider no longer has it", async () => {
    const { scene, proxy } = await createScene();
    await using disposable = scene;
    await disposable.crashAt({ at: "barrier turn-submitted", nth: 4 });
    const { responseId } = scene.ledger.listEvents("TurnSubmitted").at(-1) ?? {};
    await fetch(`${proxy.url}/responses/${responseId}`, { method: "DELETE" });
    await expect(scene.finish()).rejects.toThrow(/script/); // the model has no fifth turn
    expect(scene.ledger.listEvents("TurnResubmitted")).toMatchObject([{ turn: 4, responseId }]);
    expect(proxy.requests.filter(({ route }) => route === "POST /v1/responses")).toHaveLength(5);
  });
});
