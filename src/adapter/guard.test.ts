import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { Deadline } from "../base/deadline.ts";
import { DeadlineExceededError, PromptEvaluationError } from "../base/evaluation-errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";

type Handler = (context: ToolContext) => ToolResult<unknown> | Promise<ToolResult<unknown>>;

const promptWith = (handler: Handler = () => ToolResult.ok(null)) => {
  const work = new Tool({
    name: "work",
    description: "Works.",
    params: null,
    handler: (_, context) => handler(context),
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: [work],
  });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};

const callWork = { toolCalls: [{ name: "work" }], text: "Working." };
const forever = () => new Promise<never>(() => {});
/** Work that never ends, and when it began. */
const stalled = () => {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const stall = () => {
    resolve();
    return forever();
  };
  return { begun, stall };
};
const failureOf = (evaluation: Promise<unknown>): Promise<unknown> =>
  evaluation.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

describe("a deadline", () => {
  test("that has passed refuses the evaluation before anything is done", async () => {
    const bus = recordingBus();
    const clock = fakeClock({ now: 1_000 });
    const client = scriptedClient({ text: "hi" });
    const deadline = Deadline.at(new Date(1_000), clock);
    const error = await failureOf(
      client.evaluate(promptWith(), { session: new Session({ bus }), deadline }),
    );
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "request",
      message: expect.stringMatching(
        /^The deadline passed after 0 turns, in phase request: give it/,
      ),
      partial: { turns: 0 },
    });
    expect(client.asked).toEqual([]);
    expect(bus.events).toEqual([]);
  });

  test("ends a request in flight, even one that ignores the signal", async () => {
    const clock = fakeClock();
    const { begun, stall } = stalled();
    const client = scriptedClient(callWork, stall);
    const deadline = Deadline.after(500, clock);
    const failed = failureOf(client.evaluate(promptWith(), { session: new Session(), deadline }));
    await begun;
    await clock.advance(500);
    expect(await failed).toMatchObject({
      name: "DeadlineExceededError",
      phase: "request",
      cause: { name: "TimeoutError" },
      partial: { turns: 1, text: "Working." },
    });
    expect(client.asked[1]?.signal.aborted).toBe(true);
  });

  test("counts before what a client says of the abort it saw", async () => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const client = scriptedClient(({ signal }) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(new Error("socket closed")));
      asked.resolve();
      return promise;
    });
    const deadline = Deadline.after(500, clock);
    const failed = failureOf(client.evaluate(promptWith(), { session: new Session(), deadline }));
    await asked.promise;
    await clock.advance(500);
    expect(await failed).toBeInstanceOf(DeadlineExceededError);
  });

  test("ends a handler, even one that ignores the signal", async () => {
    const clock = fakeClock();
    const client = scriptedClient(callWork, { text: "Done." });
    const deadline = Deadline.after(500, clock);
    const { begun, stall } = stalled();
    const failed = failureOf(
      client.evaluate(promptWith(stall), { session: new Session(), deadline }),
    );
    await begun;
    await clock.advance(500);
    expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
    expect(client.asked).toHaveLength(1);
  });

  test("is what handlers are told", async () => {
    const clock = fakeClock();
    const deadline = Deadline.after(500, clock);
    const seen: unknown[] = [];
    const prompt = promptWith((context) => {
      seen.push(context.deadline, context.signal.aborted);
      return ToolResult.ok(null);
    });
    const client = scriptedClient(callWork, { text: "Done." });
    await client.evaluate(prompt, { session: new Session(), deadline });
    expect(seen).toEqual([deadline, false]);
  });

  test("ends the wait for one's turn", async () => {
    const clock = fakeClock();
    const session = new Session();
    const gate = Promise.withResolvers<void>();
    const busy = scriptedClient(() => gate.promise.then(() => ({ text: "first" })));
    const first = busy.evaluate(promptWith(), { session });
    const client = scriptedClient({ text: "second" });
    const deadline = Deadline.after(500, clock);
    const failed = failureOf(client.evaluate(promptWith(), { session, deadline }));
    await clock.advance(500);
    expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "request" });
    expect(client.asked).toEqual([]);
    gate.resolve();
    expect(await first).toMatchObject({ text: "first" });
  });

  describe("whose timer is late", () => {
    /** Time that is read off, and wakes nobody. */
    const stopped = () => {
      const clock = { time: 0, now: () => clock.time, sleep: forever };
      return clock satisfies Clock;
    };

    test("is noticed between turns", async () => {
      const clock = stopped();
      const prompt = promptWith(() => {
        clock.time = 1_000;
        return ToolResult.ok(null);
      });
      const client = scriptedClient(callWork, { text: "Done." });
      const deadline = Deadline.after(500, clock);
      const failed = failureOf(client.evaluate(prompt, { session: new Session(), deadline }));
      expect(await failed).toMatchObject({ phase: "request", partial: { turns: 1 } });
      expect(client.asked).toHaveLength(1);
    });

    test("is noticed between calls", async () => {
      const clock = stopped();
      let times = 0;
      const prompt = promptWith(() => {
        clock.time = 1_000;
        return ToolResult.ok(times++);
      });
      const client = scriptedClient({ toolCalls: [{ name: "work" }, { name: "work" }] });
      const deadline = Deadline.after(500, clock);
      const failed = failureOf(client.evaluate(prompt, { session: new Session(), deadline }));
      expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
      expect(times).toBe(1);
    });

    test("is noticed before the calls of a turn", async () => {
      const clock = stopped();
      const client = scriptedClient(() => {
        clock.time = 1_000;
        return callWork;
      });
      const deadline = Deadline.after(500, clock);
      const failed = failureOf(client.evaluate(promptWith(), { session: new Session(), deadline }));
      expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
    });

    test("is noticed at the end", async () => {
      const clock = stopped();
      const client = scriptedClient(() => {
        clock.time = 500;
        return { text: "Too late." };
      });
      const deadline = Deadline.after(500, clock);
      const failed = failureOf(client.evaluate(promptWith(), { session: new Session(), deadline }));
      expect(await failed).toMatchObject({
        name: "DeadlineExceededError",
        phase: "response",
        partial: { text: "Too late.", turns: 1 },
      });
    });
  });

  test("that is not reached does no harm", async () => {
    const clock = fakeClock();
    const deadline = Deadline.after(500, clock);
    const client = scriptedClient({ text: "In time." });
    const evaluation = client.evaluate(promptWith(), { session: new Session(), deadline });
    expect(await evaluation).toMatchObject({ text: "In time." });
  });
});

describe("cancellation", () => {
  test.each([
    ["an error", new Error("stop")],
    [
      "one of our own errors",
      new PromptEvaluationError("stop", { promptName: "x", phase: "tool" }),
    ],
    ["text", "stop"],
    ["a number", 0],
    ["null", null],
    ["an object", { why: "stop" }],
  ])("before the start gives back the reason untouched: %s", async (_, reason) => {
    const client = scriptedClient({ text: "hi" });
    const signal = AbortSignal.abort(reason);
    const evaluation = client.evaluate(promptWith(), { session: new Session(), signal });
    expect(await failureOf(evaluation)).toBe(reason);
    expect(client.asked).toEqual([]);
  });

  test("without a reason gives back the signal's own", async () => {
    const signal = AbortSignal.abort();
    const evaluation = scriptedClient().evaluate(promptWith(), { session: new Session(), signal });
    expect(await failureOf(evaluation)).toBe(signal.reason);
  });

  test.each([["stop"], [null], [new Error("stop")]])(
    "ends a request in flight, even one that ignores the signal: %s",
    async (reason) => {
      const controller = new AbortController();
      const { begun, stall } = stalled();
      const { signal } = controller;
      const evaluation = scriptedClient(stall).evaluate(promptWith(), {
        session: new Session(),
        signal,
      });
      const failed = failureOf(evaluation);
      await begun;
      controller.abort(reason);
      expect(await failed).toBe(reason);
    },
  );

  test("counts before what a client says of it", async () => {
    const controller = new AbortController();
    const client = scriptedClient(() => {
      controller.abort("stop");
      throw new PromptEvaluationError("aborted", { promptName: "", phase: "request" });
    });
    const { signal } = controller;
    const evaluation = client.evaluate(promptWith(), { session: new Session(), signal });
    expect(await failureOf(evaluation)).toBe("stop");
  });

  test("ends a handler that ignores the signal", async () => {
    const bus = recordingBus();
    const controller = new AbortController();
    const prompt = promptWith(() => {
      controller.abort("stop");
      return forever();
    });
    const client = scriptedClient(callWork, { text: "Done." });
    const { signal } = controller;
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }), signal });
    expect(await failureOf(evaluation)).toBe("stop");
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("ends a handler that heeds the signal", async () => {
    const controller = new AbortController();
    const prompt = promptWith(({ signal }) => {
      controller.abort("stop");
      signal.throwIfAborted();
      return ToolResult.ok(null);
    });
    const { signal } = controller;
    const evaluation = scriptedClient(callWork).evaluate(prompt, {
      session: new Session(),
      signal,
    });
    expect(await failureOf(evaluation)).toBe("stop");
  });

  test("is noticed although a handler succeeded", async () => {
    const controller = new AbortController();
    const prompt = promptWith(() => {
      controller.abort("stop");
      return ToolResult.ok(null);
    });
    const client = scriptedClient(callWork, { text: "Done." });
    const { signal } = controller;
    const evaluation = client.evaluate(prompt, { session: new Session(), signal });
    expect(await failureOf(evaluation)).toBe("stop");
    expect(client.asked).toHaveLength(1);
  });

  test("by a subscriber that hears of the last turn comes in time", async () => {
    const bus = recordingBus();
    const controller = new AbortController();
    bus.subscribe("TurnCompleted", () => controller.abort("stop"));
    const { signal } = controller;
    const client = scriptedClient({ text: "Done." });
    const evaluation = client.evaluate(promptWith(), { session: new Session({ bus }), signal });
    expect(await failureOf(evaluation)).toBe("stop");
    expect(bus.of("PromptExecuted")).toEqual([]);
  });

  test("ends the wait for one's turn", async () => {
    const session = new Session();
    const gate = Promise.withResolvers<void>();
    const first = scriptedClient(() => gate.promise.then(() => ({ text: "first" }))).evaluate(
      promptWith(),
      { session },
    );
    const controller = new AbortController();
    const { signal } = controller;
    const client = scriptedClient({ text: "second" });
    const failed = failureOf(client.evaluate(promptWith(), { session, signal }));
    controller.abort("stop");
    expect(await failed).toBe("stop");
    const third = scriptedClient({ text: "third" }).evaluate(promptWith(), { session });
    gate.resolve();
    expect(await first).toMatchObject({ text: "first" });
    expect(await third).toMatchObject({ text: "third" });
  });

  test("counts before a deadline that has passed as well", async () => {
    const clock = fakeClock({ now: 10 });
    const deadline = Deadline.at(new Date(0), clock);
    const signal = AbortSignal.abort("stop");
    const options = { session: new Session(), signal, deadline };
    expect(await failureOf(scriptedClient().evaluate(promptWith(), options))).toBe("stop");
  });

  test("after the answer changes nothing", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = scriptedClient({ text: "Done." });
    const response = await client.evaluate(promptWith(), { session: new Session(), signal });
    controller.abort("stop");
    expect(response.text).toBe("Done.");
  });
});
