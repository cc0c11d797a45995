import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { chooseFileActions } from "./support/crash/choose-file-actions.ts";
import type { CrashPoint } from "./support/crash/crash-order.ts";
import { CrashScene } from "./support/crash/crash-scene.ts";
import { hostSandbox } from "./support/host-sandbox.ts";

/** Creates a scene with one mounted file. */
async function createScene(details: Readonly<Record<string, string>>): Promise<CrashScene> {
  const scene = await CrashScene.create({ adapter: "openai-files", store: "jsonl", details });
  mkdirSync(join(scene.folder, "mount"));
  writeFileSync(join(scene.folder, "mount", "log.txt"), "zero\n");
  return scene;
}

/** Resumes the run to its end, and expects the files of a run that was not killed. */
async function expectFinished(scene: CrashScene): Promise<void> {
  expect(await scene.finish()).toMatchObject({ text: "Done." });
  const log = readFileSync(join(scene.folder, "result", "p", "log.txt"), "utf8");
  expect(log).toBe("zero\ncode 0\nline\ncode 1\nline\n");
  expect(scene.ledger.listEvents("ReducerFailed")).toEqual([]);
}

/** Returns the ids of the provider's containers. */
async function listContainers(url: string): Promise<readonly string[]> {
  const page: { data: readonly { id: string }[] } = await (
    await fetch(`${url}/containers?limit=100`)
  ).json();
  return page.data.map(({ id }) => id);
}

describe("the files of a run on the local provider that is killed and resumed", {
  timeout: 300_000, // a test starts several processes, one after the other
}, () => {
  let provider: LocalProvider;
  let url: string;
  beforeAll(async () => {
    const model = scriptedModel(({ items }) => chooseFileActions(items));
    provider = new LocalProvider({ sandbox: hostSandbox(), model });
    ({ url } = await provider.listen());
  });
  afterAll(async () => {
    await provider.close();
  });

  for (const [name, point] of [
    ["when the mounts are kept", { at: "barrier workspace-kept" }],
    ["when code has run and its turn is stored", { at: "barrier turn-completed" }],
    ["when code has run and its turn is not stored", { at: "event TurnCompleted", nth: 2 }],
    ["in a call after it has changed files", { at: "after append", flushed: true }],
    ["when its last turn is stored", { at: "barrier turn-completed", nth: 3 }],
    ["when the answer is stored and the files are not synced", { at: "barrier executed" }],
  ] as readonly (readonly [string, CrashPoint])[]) {
    test(`are the same as without a kill, ${name}`, async () => {
      await using scene = await createScene({ url });
      await scene.crashAt(point);
      await expectFinished(scene);
    });
  }

  for (const [name, point] of [
    ["when its container is filled", { at: "barrier workspace-kept" }],
    ["when code has run and its turn is stored", { at: "barrier turn-completed" }],
    ["when code has run and its turn is not stored", { at: "event TurnCompleted", nth: 2 }],
    ["when the answer is stored", { at: "barrier executed" }],
    ["while it cleans up", { at: "event WorkspaceSynced" }],
  ] as readonly (readonly [string, CrashPoint])[]) {
    test(`are in no container with zero data retention, after a kill ${name}`, async () => {
      const before = await listContainers(url);
      await using scene = await createScene({ url, mode: "zdr" });
      await scene.crashAt(point);
      expect(await listContainers(url)).toHaveLength(before.length + 1);
      await expectFinished(scene);
      expect(await listContainers(url)).toEqual(before);
      const [held, released] = ["DataHeld", "DataReleased"].map(
        (type) => new Set(scene.ledger.listEvents(type).map(({ containerId }) => containerId)),
      );
      expect(released).toEqual(held);
    });
  }

  test("are the same if a turn is sent again that the provider no longer has, but whose code has run", async () => {
    await using scene = await createScene({ url, mode: "background" });
    await scene.crashAt({ at: "barrier turn-submitted", nth: 2 });
    const { responseId } = scene.ledger.listEvents("TurnSubmitted").at(-1) ?? {};
    const response = `${url}/responses/${responseId}`;
    const readStatus = async () => (await (await fetch(response)).json()).status;
    await expect.poll(readStatus, { timeout: 60_000 }).toBe("completed");
    expect((await fetch(response, { method: "DELETE" })).status).toBe(200);
    await expectFinished(scene);
    expect(scene.ledger.listEvents("TurnResubmitted")).toMatchObject([{ turn: 2, responseId }]);
    expect(scene.ledger.listEvents("ContainerReplaced")).toMatchObject([
      { reason: "The provider no longer has the response whose code used it." },
    ]);
  });
});
