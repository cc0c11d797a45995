import { describe, expect, test } from "vitest";
import type { ClaudeSdk } from "../../src/claude/sdk.ts";
import { bash, endingStage, note, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say } from "../support/claude/messages-server.ts";

const reason = new Error("I changed my mind");

/** A signal, and what aborts it. */
function cancellation() {
  const controller = new AbortController();
  const cancel = () => controller.abort(reason);
  return { signal: controller.signal, cancel };
}

describe.skipIf(sdkMissing)(
  "A cancelled evaluation on the real SDK",
  { timeout: SDK_TIMEOUT },
  () => {
    test("starts nothing if it was cancelled before", async () => {
      const stage = await endingStage([]);
      expect(await stage.failure({ signal: AbortSignal.abort(reason) })).toBe(reason);
      expect(stage.bus.of("TurnStarted")).toEqual([]);
      await stage.expectNothingLeft();
    });

    test("starts no process if it is cancelled as its first turn starts", async () => {
      let queries = 0;
      const sdk: ClaudeSdk = {
        query() {
          queries += 1;
          throw new Error("It was started");
        },
      };
      const stage = await endingStage([], { adapter: { sdk } });
      const { signal, cancel } = cancellation();
      stage.bus.subscribe("TurnStarted", () => queueMicrotask(cancel));
      expect(await stage.failure({ signal })).toBe(reason);
      expect(queries).toBe(0);
      await stage.expectNothingLeft();
    });

    test("ends while the SDK's process starts", async () => {
      const stage = await endingStage([{ content: [say("Too late.")] }]);
      const { signal, cancel } = cancellation();
      const failure = stage.failure({ signal });
      await expect.poll(stage.sdkProcess, { interval: 1 }).not.toBeNull();
      cancel();
      expect(await failure).toBe(reason);
      await stage.expectNothingLeft();
    });

    test("ends while the model is asked", async () => {
      const { signal, cancel } = cancellation();
      const stage = await endingStage(() => {
        cancel();
        return { stall: true };
      });
      expect(await stage.failure({ signal })).toBe(reason);
      expect(stage.server.requests).toHaveLength(1);
      await stage.expectNothingLeft();
    });

    test("ends while the model is asked by a process that no longer does anything", async () => {
      const { signal, cancel } = cancellation();
      const stage = await endingStage(() => {
        const { pid } = stage.sdkProcess() ?? { pid: 0 };
        process.kill(pid, "SIGSTOP");
        cancel();
        return { stall: true };
      });
      expect(await stage.failure({ signal })).toBe(reason);
      await stage.expectNothingLeft();
    });

    test("ends between two turns, and nothing is asked after that", async () => {
      const { signal, cancel } = cancellation();
      const stage = await endingStage([
        { content: [own(note)] },
        { content: [bash("echo hello")] },
        { content: [bash("touch again")] },
      ]);
      stage.bus.subscribe("TurnCompleted", ({ turn }) => void (turn === 2 && cancel()));
      expect(await stage.failure({ signal })).toBe(reason);
      expect(stage.server.requests).toHaveLength(2);
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      await stage.expectNothingLeft();
    });

    test("is answered all the same if it is cancelled when only cleaning up is left", async () => {
      const { signal, cancel } = cancellation();
      const stage = await endingStage([
        { content: [bash("sleep 0.1")] },
        { content: [say("Done.")] },
      ]);
      stage.bus.subscribe("PromptExecuted", () => void setTimeout(cancel, 10));
      expect((await stage.run({ signal })).text).toBe("Done.");
      expect(signal.aborted).toBe(true);
      await stage.expectNothingLeft();
    });

    test("leaves nothing at whatever moment it is cancelled, again and again", async () => {
      const stage = await endingStage(
        ({ text }) =>
          text.includes('"tool_result"')
            ? { content: [bash("(setsid sleep 600 &); sleep 600")] }
            : { content: [own(note), bash("sleep 0.3")] },
        { adapter: { rollBackFailedNativeTools: true } },
      );
      await stage.section.ready();
      const before = resourcesNow();
      const random = seeded(20_26);
      for (let run = 0; run < 10; run++) {
        const { signal, cancel } = cancellation();
        const after = Math.floor(random() * 2_000);
        setTimeout(cancel, after);
        expect([after, await stage.failure({ signal })]).toEqual([after, reason]);
        expect([after, stage.processes()]).toEqual([after, []]);
        expect([after, stage.folders()]).toEqual([after, []]);
      }
      expect(resourcesNow()).toEqual(before);
      await stage.expectNothingLeft();
    });
  },
);

/** What a run may not leave in this process. */
function resourcesNow() {
  const events = ["exit", "SIGINT", "SIGTERM", "beforeExit", "uncaughtException"];
  const held = process.getActiveResourcesInfo();
  return {
    listeners: events.map((event) => `${event} ${process.listenerCount(event)}`),
    pipes: held.filter((name) => /^(Pipe|Process|FSEvent|MessagePort)/.test(name)).sort(),
  };
}

/** The same numbers every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
