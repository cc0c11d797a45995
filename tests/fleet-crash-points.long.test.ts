import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { BARRIERS } from "../src/adapter/resume/barrier.ts";
import { FLEET_MOMENTS } from "../src/fleet/fleet-moment.ts";
import { answerCrashTurn } from "./support/crash/answer-crash-turn.ts";
import { chooseFileActions } from "./support/crash/choose-file-actions.ts";
import { parkedCases } from "./support/crash/expect-parked-case.ts";
import {
  expectFleetCrashCase,
  expectParkedFleetCase,
  fleetCrashCases,
} from "./support/fleet/crash/expect-fleet-crash-case.ts";
import { FleetCrashScene } from "./support/fleet/crash/fleet-crash-scene.ts";
import { hostSandbox } from "./support/host-sandbox.ts";
import { startWireServer, type WireServer } from "./support/wire-server.ts";

const needsPostgres = process.env["WINK_POSTGRES"] === undefined;
const timeout = 180_000; // a test starts several processes, one after the other

describe.skipIf(needsPostgres)(
  "a fleet's worker on the scripted client that is killed is replaced without a loss",
  { timeout },
  () => {
    for (const one of fleetCrashCases) {
      test(one.name, () => expectFleetCrashCase(one, { adapter: "scripted" }));
    }
    for (const one of parkedCases) {
      test(one.name, () => expectParkedFleetCase(one, { adapter: "scripted" }));
    }

    test("when a response is submitted to run in the background", async () => {
      const details = { delivery: "background" };
      const point = { at: "barrier turn-submitted", nth: 2 };
      await expectFleetCrashCase({ name: "submitted", point }, { adapter: "scripted", details });
    });
  },
);

describe.skipIf(needsPostgres)(
  "a fleet's worker on OpenAI's adapter that is killed is replaced without a loss",
  { timeout },
  () => {
    let server: WireServer;
    beforeAll(async () => {
      server = await startWireServer(answerCrashTurn);
    });
    afterAll(async () => {
      await server.close();
    });
    const createOptions = () => ({ adapter: "openai", details: { url: server.url } });

    for (const one of fleetCrashCases) {
      test(one.name, () => expectFleetCrashCase(one, createOptions()));
    }
    for (const one of parkedCases) {
      test(one.name, () => expectParkedFleetCase(one, createOptions()));
    }
  },
);

describe.skipIf(needsPostgres)(
  "a fleet's worker with a workspace that is killed is replaced without a loss of files",
  { timeout },
  () => {
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

    test.each([
      ["when the mounts are kept", { at: "barrier workspace-kept" }],
      ["when code has run and its turn is stored", { at: "barrier turn-completed" }],
      ["in a call after it has changed files", { at: "after append", flushed: true }],
      ["when the answer is stored and the files are not synced", { at: "barrier executed" }],
      ["when its run has ended, before the end is stored", { at: "fleet attempt-ended" }],
    ])("%s", async (_title, point) => {
      await using scene = await FleetCrashScene.create({
        adapter: "openai-files",
        details: { url },
      });
      mkdirSync(join(scene.folder, "mount"));
      writeFileSync(join(scene.folder, "mount", "log.txt"), "zero\n");
      await scene.crashAt(point);
      expect(await scene.finish()).toMatchObject({ text: "Done." });
      const log = readFileSync(join(scene.folder, "result", "p", "log.txt"), "utf8");
      expect(log).toBe("zero\ncode 0\nline\ncode 1\nline\n");
    });
  },
);

test("every barrier and every moment of an attempt is a crash point of a fleet", () => {
  const points = fleetCrashCases.map(({ point }) => point.at);
  const elsewhere = ["turn-submitted", "workspace-kept", "parked"]; // the tests above with their own options
  const barriers = BARRIERS.filter((barrier) => !elsewhere.includes(barrier));
  expect(points).toEqual(expect.arrayContaining(barriers.map((barrier) => `barrier ${barrier}`)));
  expect(points).toEqual(expect.arrayContaining(FLEET_MOMENTS.map((moment) => `fleet ${moment}`)));
});
