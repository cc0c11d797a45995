import { describe, expect, test } from "vitest";
import type { ClaudeSdk } from "../../src/claude/sdk.ts";
import { createEndingFixture, noteTool, useBash, useTool } from "../support/claude/exit-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const reason = new Error("I changed my mind");

/** Creates a signal and a function that aborts it. */
function createCancellation() {
  const controller = new AbortController();
  const cancel = () => controller.abort(reason);
  return { signal: controller.signal, cancel };
}

describe.skipIf(sdkMissing)(
  "A canceled evaluation on the real SDK",
  { timeout: SDK_TIMEOUT },
  () => {
    test("starts nothing if it was canceled before", async () => {
      const fixture = await createEndingFixture([]);
      expect(await fixture.runToError({ signal: AbortSignal.abort(reason) })).toBe(reason);
      expect(fixture.bus.of("TurnStarted")).toEqual([]);
      await fixture.expectNothingLeft();
    });

    test("starts no process if it is canceled at the start of its first turn", async () => {
      let queries = 0;
      const sdk: ClaudeSdk = {
        query() {
          queries += 1;
          throw new Error("It was started");
        },
      };
      const fixture = await createEndingFixture([], { adapter: { sdk } });
      const { signal, cancel } = createCancellation();
      fixture.bus.subscribe("TurnStarted", () => queueMicrotask(cancel));
      expect(await fixture.runToError({ signal })).toBe(reason);
      expect(queries).toBe(0);
      await fixture.expectNothingLeft();
    });

    test("ends while the SDK's process starts", async () => {
      const fixture = await createEndingFixture([{ content: [textBlock("Too late.")] }]);
      const { signal, cancel } = createCancellation();
      const failure = fixture.runToError({ signal });
      await expect.poll(fixture.findSdkProcess, { interval: 1 }).not.toBeNull();
      cancel();
      expect(await failure).toBe(reason);
      await fixture.expectNothingLeft();
    });

    test("ends during a request to the model", async () => {
      const { signal, cancel } = createCancellation();
      const fixture = await createEndingFixture(() => {
        cancel();
        return { stall: true };
      });
      expect(await fixture.runToError({ signal })).toBe(reason);
      expect(fixture.server.requests).toHaveLength(1);
      await fixture.expectNothingLeft();
    });

    test("ends during a request even if the SDK's process is suspended", async () => {
      const { signal, cancel } = createCancellation();
      const fixture = await createEndingFixture(() => {
        const { pid } = fixture.findSdkProcess() ?? { pid: 0 };
        process.kill(pid, "SIGSTOP");
        cancel();
        return { stall: true };
      });
      expect(await fixture.runToError({ signal })).toBe(reason);
      await fixture.expectNothingLeft();
    });

    test("ends between two turns and sends no further requests", async () => {
      const { signal, cancel } = createCancellation();
      const fixture = await createEndingFixture([
        { content: [useTool(noteTool)] },
        { content: [useBash("echo hello")] },
        { content: [useBash("touch again")] },
      ]);
      fixture.bus.subscribe("TurnCompleted", ({ turn }) => void (turn === 2 && cancel()));
      expect(await fixture.runToError({ signal })).toBe(reason);
      expect(fixture.server.requests).toHaveLength(2);
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      await fixture.expectNothingLeft();
    });

    test("returns its answer if it is canceled during the final cleanup", async () => {
      const { signal, cancel } = createCancellation();
      const fixture = await createEndingFixture([
        { content: [useBash("sleep 0.1")] },
        { content: [textBlock("Done.")] },
      ]);
      fixture.bus.subscribe("PromptExecuted", () => void setTimeout(cancel, 10));
      expect((await fixture.run({ signal })).text).toBe("Done.");
      expect(signal.aborted).toBe(true);
      await fixture.expectNothingLeft();
    });

    test("leaves nothing when it is canceled repeatedly at random times", async () => {
      const fixture = await createEndingFixture(
        ({ text }) =>
          text.includes('"tool_result"')
            ? { content: [useBash("(setsid sleep 600 &); sleep 600")] }
            : { content: [useTool(noteTool), useBash("sleep 0.3")] },
        { adapter: { rollBackFailedNativeTools: true } },
      );
      await fixture.section.ready();
      const before = listResources();
      const random = createRandom(20_26);
      for (let run = 0; run < 10; run++) {
        const { signal, cancel } = createCancellation();
        const after = Math.floor(random() * 2_000);
        setTimeout(cancel, after);
        expect([after, await fixture.runToError({ signal })]).toEqual([after, reason]);
        expect([after, fixture.listProcesses()]).toEqual([after, []]);
        expect([after, fixture.listFolders()]).toEqual([after, []]);
      }
      expect(listResources()).toEqual(before);
      await fixture.expectNothingLeft();
    });
  },
);

/** Lists listeners and resources of this process that a run must not leave behind. */
function listResources() {
  const events = ["exit", "SIGINT", "SIGTERM", "beforeExit", "uncaughtException"];
  const active = process.getActiveResourcesInfo();
  return {
    listeners: events.map((event) => `${event} ${process.listenerCount(event)}`),
    pipes: active.filter((name) => /^(Pipe|Process|FSEvent|MessagePort)/.test(name)).sort(),
  };
}

/** Creates a deterministic random number generator. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
