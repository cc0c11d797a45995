import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import type { CrashPoint } from "../support/crash/crash-order.ts";
import { CrashScene } from "../support/crash/crash-scene.ts";

/** Kills a run at these points, one after the other, finishes it, and returns its files. */
async function runWithCrashes(points: readonly CrashPoint[], persists = true) {
  const details = { persists: String(persists) };
  await using scene = await CrashScene.create({
    adapter: "claude-files",
    store: "jsonl",
    details,
  });
  mkdirSync(join(scene.folder, "mount"));
  writeFileSync(join(scene.folder, "mount", "log.txt"), "zero\n");
  writeFileSync(join(scene.folder, "mount", "old.txt"), "old\n");
  for (const point of points) await scene.crashAt(point);
  const { text } = await scene.finish();
  expect(text).toBe("Done.");
  const result = join(scene.folder, "result");
  const lines = readFileSync(join(result, "log.txt"), "utf8").trimEnd().split("\n");
  const { ledger } = scene;
  const [diff] = ledger.listEvents("diff");
  const reports = ledger
    .read()
    .flatMap((entry) => (entry.what === "request" ? (entry.answers ?? []) : []));
  expect(ledger.listEvents("ReducerFailed")).toEqual([]);
  return {
    lines: lines.join(" "),
    names: readdirSync(result),
    requests: ledger.listRequests().join(" "),
    changes: Object.values(diff ?? {}).map((one) => `${Object(one).status} ${Object(one).path}`),
    reports: [...new Set(reports)],
  };
}

const uninterrupted = {
  lines: "zero one two line line four",
  names: ["log.txt"],
  requests: "1 2 3 4",
  changes: ["changed log.txt", "deleted old.txt"],
  reports: [] as string[],
};

describe.skipIf(sdkMissing)(
  "the files of a run on the real SDK that is killed and resumed",
  {
    timeout: 4 * SDK_TIMEOUT, // each test starts up to four SDK processes
  },
  () => {
    test("match the calls if nothing is killed", async () => {
      expect(await runWithCrashes([])).toEqual(uninterrupted);
    });

    for (const [name, point] of [
      ["when the mounts are kept", { at: "barrier workspace-kept" }],
      ["when a command has run and its turn is stored", { at: "barrier turn-completed" }],
      ["between a command and a call of the same turn", { at: "barrier turn-completed", nth: 2 }],
      ["in a call before it changes files", { at: "before append" }],
      ["in a call after it has changed files", { at: "after append" }],
      ["when the answer is stored", { at: "barrier turn-completed", nth: 4 }],
      ["when the evaluation has ended and the files are not synced", { at: "barrier executed" }],
    ] as const) {
      test(`are the same as without a kill, ${name}`, async () => {
        expect(await runWithCrashes([point])).toEqual(uninterrupted);
      });
    }

    test("lose a command that was not stored, with the request that is sent again", async () => {
      const point = { at: "event TurnCompleted" };
      expect(await runWithCrashes([point])).toEqual({ ...uninterrupted, requests: "1 1 2 3 4" });
    });

    test("lose a command after the last stored call, which is reported to the model as unknown", async () => {
      const lines = "zero one two line line";
      const killed = { ...uninterrupted, lines, reports: ["[Tool call interrupted"] };
      expect(await runWithCrashes([{ at: "after append", nth: 2 }])).toEqual(killed);
      const [point, requests] = [{ at: "request", nth: 4, flushed: true }, "1 2 3 4 4"];
      expect(await runWithCrashes([point])).toEqual({ ...killed, requests });
    });

    test("survive several kills", async () => {
      const points = [
        { at: "barrier turn-completed" },
        { at: "after append" },
        { at: "before append" },
      ];
      expect(await runWithCrashes(points)).toEqual(uninterrupted);
    });

    test("are reported to the model as lost without persistDir", async () => {
      const point = { at: "barrier turn-completed", nth: 2 };
      const { lines, reports } = await runWithCrashes([point], false);
      expect(lines).toBe("zero line line four");
      expect(reports).toEqual(["- log.txt: it was changed in the workspace and not kept"]);
    });
  },
);
