import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Clock } from "../base/clock.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { Logger } from "../base/logger.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { defineSlice } from "../session/define-slice.ts";
import { type EventBus, InProcessEventBus } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import type { StreamEvent } from "./evaluation-stream.ts";
import type { TurnRequest } from "./model-client.ts";

const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Work.",
  hostedTools: [webSearchTool()],
});
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

/** Starts an evaluation whose model answers when `answer` is called. */
async function startTurn(bus: EventBus, options: { readonly logger?: Logger } = {}) {
  const clock = fakeClock({ now: 1_000 });
  const asked = Promise.withResolvers<TurnRequest>();
  const answered = Promise.withResolvers<{ readonly text: string }>();
  const step: ScriptStep = async (request) => {
    asked.resolve(request);
    return await answered.promise;
  };
  const model = scriptedClient(step).with({ clock, ...options });
  const work = model.evaluate(prompt, { session: new Session({ bus, clock }) });
  const { observer } = await asked.promise;
  const answer = async () => {
    answered.resolve({ text: "Done." });
    await work;
  };
  return { clock, observer, answer, fail: answered.reject, work };
}

describe("TurnProgressed", () => {
  test("is published once a second while nothing arrives, with the time since TurnStarted", async () => {
    const bus = recordingBus();
    const { clock, answer } = await startTurn(bus);
    await clock.advance(2_500);
    await answer();
    const stamp = { sessionId: expect.any(String), promptName: "demo:k", adapter: "scripted" };
    const progress = { type: "TurnProgressed", turn: 1, receivedBytes: 0, last: "", ...stamp };
    expect(bus.of("TurnProgressed")).toEqual([
      { ...progress, elapsedMs: 1_000, createdAt: "1970-01-01T00:00:02.000Z" },
      { ...progress, elapsedMs: 2_000, createdAt: "1970-01-01T00:00:03.000Z" },
    ]);
    expect(bus.of("TurnProgressed").every(Object.isFrozen)).toBe(true);
  });

  test("is published at each status change of a hosted call, in addition", async () => {
    const bus = recordingBus();
    const { clock, observer, answer } = await startTurn(bus);
    await clock.advance(300);
    observer?.onReceived(40, "response.created");
    observer?.onReceived(60, "response.call.searching");
    observer?.onStatus("response.call.searching");
    await clock.advance(700);
    await answer();
    expect(
      bus
        .of("TurnProgressed")
        .map(({ elapsedMs, receivedBytes, last }) => [elapsedMs, receivedBytes, last]),
    ).toEqual([
      [300, 100, "response.call.searching"],
      [1_000, 100, "response.call.searching"],
    ]);
  });

  test("ends with the turn, also if it fails", async () => {
    const bus = recordingBus();
    const done = await startTurn(bus);
    expect(done.clock.sleeping).toBe(1);
    await done.answer();
    await done.clock.advance(5_000);
    const failed = await startTurn(bus);
    failed.fail(new Error("down"));
    await expect(failed.work).rejects.toThrow("down");
    await failed.clock.advance(5_000);
    expect([done.clock.sleeping, failed.clock.sleeping]).toEqual([0, 0]);
    expect(bus.of("TurnProgressed")).toEqual([]);
  });

  test("costs nothing on a bus that does not hear it: no observer and no timer", async () => {
    const bus = new InProcessEventBus();
    bus.subscribe("TurnCompleted", () => {});
    const { clock, observer, answer } = await startTurn(bus);
    expect([observer, clock.sleeping]).toEqual([undefined, 0]);
    await answer();
  });

  test("is published on a bus that has no hears()", async () => {
    const recording = recordingBus();
    const bus: EventBus = {
      publish: (event) => recording.publish(event),
      subscribe: (type, handler) => recording.subscribe(type, handler),
    };
    const { clock, answer } = await startTurn(bus);
    await clock.advance(1_000);
    await answer();
    expect(recording.of("TurnProgressed")).toHaveLength(1);
  });

  test("does not make the client report parts", async () => {
    const { observer, answer } = await startTurn(recordingBus());
    expect([observer?.wantsParts, observer?.backlog]).toEqual([false, null]);
    observer?.onPart({ type: "text", turn: 1, delta: "ignored" });
    observer?.onRestart();
    await answer();
  });

  test("is neither reduced nor stored, also with a slice that lists it", async () => {
    const slice = defineSlice<number>("demo.progress", {
      initial: 0,
      on: { TurnProgressed: (count) => count + 1, TurnCompleted: (count) => count + 100 },
    });
    const [bus, store] = [recordingBus(), new MemorySessionStore()];
    const session = new Session({ id: "s", bus, store }).register(slice);
    const model = scriptedClient(({ observer }) => {
      observer?.onStatus("searching");
      return { text: "Done." };
    });
    await model.evaluate(prompt, { session });
    await session.flush();
    expect(bus.of("TurnProgressed")).toHaveLength(1);
    expect(session.get(slice)).toBe(100);
    const stored = JSON.stringify(store.records("s"));
    expect(stored).toContain("TurnCompleted");
    expect(stored).not.toContain('"type":"TurnProgressed"');
  });

  test("is only logged as an error if the bus throws", async () => {
    const errors: unknown[] = [];
    const logger = { error: (...entry: unknown[]) => void errors.push(entry) } as never as Logger;
    const recording = recordingBus();
    const bus: EventBus = {
      subscribe: (type, handler) => recording.subscribe(type, handler),
      publish(event) {
        if (event.type === "TurnProgressed") throw new Error("full");
        recording.publish(event);
      },
    };
    const { observer, answer } = await startTurn(bus, { logger });
    observer?.onStatus("searching");
    await answer();
    const error = expect.objectContaining({ message: "full" });
    expect(errors).toEqual([["TurnProgressed could not be published", { error }]]);
  });

  test("is published once on a clock that does not wait", async () => {
    const clock: Clock = { now: () => 0, sleep: async () => {} };
    const bus = recordingBus();
    const { promise, resolve } = Promise.withResolvers<void>();
    bus.subscribe("TurnProgressed", () => resolve());
    const model = scriptedClient(async () => {
      await promise;
      return { text: "Done." };
    }).with({ clock });
    await model.evaluate(prompt, { session: new Session({ bus }) });
    expect(bus.of("TurnProgressed")).toHaveLength(1);
  });
});

describe("a streamed turn", () => {
  const throttle = () => new ThrottleError("busy", { promptName: "", kind: "rate_limit" });
  const clock = fakeClock({ skipsSleep: true });

  const readParts = async (...script: readonly ScriptStep[]) => {
    const parts: StreamEvent[] = [];
    for await (const event of scriptedClient(...script)
      .with({ clock })
      .stream(prompt)) {
      if (event.type !== "bus") parts.push(event);
    }
    return parts;
  };

  test("has a restart if it is sent again after parts were delivered", async () => {
    const parts = await readParts(
      ({ observer }) => {
        observer?.onPart({ type: "text", turn: 1, delta: "Hel" });
        throw throttle();
      },
      { text: "Hello." },
    );
    expect(parts).toEqual([
      { type: "text", turn: 1, delta: "Hel" },
      { type: "restart", turn: 1 },
      { type: "text", turn: 1, delta: "Hello." },
    ]);
  });

  test("has no restart if it is sent again before parts were delivered", async () => {
    expect(await readParts(throttle(), throttle(), { text: "Hello." })).toEqual([
      { type: "text", turn: 1, delta: "Hello." },
    ]);
  });

  test("counts the bytes of the last attempt", async () => {
    const bus = recordingBus();
    const model = scriptedClient(
      ({ observer }) => {
        observer?.onReceived(10, "response.created");
        throw throttle();
      },
      ({ observer }) => {
        observer?.onStatus("searching");
        return { text: "Done." };
      },
    ).with({ clock });
    await model.evaluate(prompt, { session: new Session({ bus }) });
    expect(bus.of("TurnProgressed")).toMatchObject([{ receivedBytes: 0, last: "searching" }]);
  });

  test("is delivered as whole parts if the client delivers none", async () => {
    const calls = [
      { name: "web_search", callId: "w1" },
      { name: "web_search", callId: "w2", success: false },
    ];
    const parts = await readParts(
      { hostedCalls: calls, text: "So:", toolCalls: [{ name: "nought", callId: "c1" }] },
      { text: "" },
    );
    expect(parts).toEqual([
      { type: "hostedCall", turn: 1, callId: "w1", kind: "web_search", status: "completed" },
      { type: "hostedCall", turn: 1, callId: "w2", kind: "web_search", status: "failed" },
      { type: "text", turn: 1, delta: "So:" },
      { type: "toolCall", turn: 1, callId: "c1", name: "nought", delta: "{}" },
    ]);
  });
});
