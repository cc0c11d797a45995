import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import type { CrashPoint } from "./support/crash/crash-order.ts";
import { CrashScene } from "./support/crash/crash-scene.ts";
import { hostSandbox } from "./support/host-sandbox.ts";

/** Appends to a file with code and then with a call, twice. It goes by the conversation, in every process. */
function chooseActions(items: readonly object[]): readonly ModelAction[] {
  const types = items.map((item) => Object(item).type);
  const calls = types.filter((type) => type === "function_call_output").length;
  if (calls === 2) return [{ say: "Done." }];
  if (types.at(-1) === "code_interpreter_call") return [{ call: { name: "append", args: {} } }];
  return [{ code: `print("code ${calls}", file=open("/mnt/data/p/log.txt", "a"))` }];
}

describe("the files of a run on the local provider that is killed and resumed", {
  timeout: 300_000, // a test starts several processes, one after the other
}, () => {
  let provider: LocalProvider;
  let url: string;
  beforeAll(async () => {
    const model = scriptedModel(({ items }) => chooseActions(items));
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
  ] as readonly (readonly [string, CrashPoint])[]) {
    test(`are the same as without a kill, ${name}`, async () => {
      const scenario = { adapter: "openai-files", store: "jsonl", details: { url } } as const;
      await using scene = await CrashScene.create(scenario);
      mkdirSync(join(scene.folder, "mount"));
      writeFileSync(join(scene.folder, "mount", "log.txt"), "zero\n");
      await scene.crashAt(point);
      expect(await scene.finish()).toMatchObject({ text: "Done." });
      const log = readFileSync(join(scene.folder, "result", "p", "log.txt"), "utf8");
      expect(log).toBe("zero\ncode 0\nline\ncode 1\nline\n");
      expect(scene.ledger.listEvents("ReducerFailed")).toEqual([]);
    });
  }
});
