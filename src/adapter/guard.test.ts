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

const createPrompt = (handler: Handler = () => ToolResult.ok(null)) => {
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
const waitForever = () => new Promise<never>(() => {});
/** Returns work that never ends, and a promise for its start. */
const createStall = () => {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const stall = () => {
    resolve();
    return waitForever();
  };
  return { begun, stall };
};
const catchFailure = (evaluation: Promise<unknown>): Promise<unknown> =>
  evaluation.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

describe("a deadline", () => {
  test("that has passed rejects the evaluation before any request", async () => {
    const bus = recordingBus();
    const clock = fakeClock({ now: 1_000 });
    const client = scriptedClient({ text: "hi" });
    const deadline = Deadline.at(new Date(1_000), clock);
    const error = await catchFailure(
      client.evaluate(createPrompt(), { session: new Session({ bus }), deadline }),
    );
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "request",
      message: expect.stringMatching(
        /^The deadline passed after 0 turns, in phase request\. Set a later deadline/,
      ),
      partial: { turns: 0 },
    });
    expect(client.asked).toEqual([]);
    expect(bus.events).toEqual([]);
  });

  test("ends a request in flight, even if it ignores the signal", async () => {
    const clock = fakeClock();
    const { begun, stall } = createStall();
    const client = scriptedClient(callWork, stall);
    const deadline = Deadline.after(500, clock);
    const failed = catchFailure(
      client.evaluate(createPrompt(), { session: new Session(), deadline }),
    );
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

  test("takes precedence over the client's error about the abort", async () => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const client = scriptedClient(({ signal }) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(new Error("socket closed")));
      asked.resolve();
      return promise;
    });
    const deadline = Deadline.after(500, clock);
    const failed = catchFailure(
      client.evaluate(createPrompt(), { session: new Session(), deadline }),
    );
    await asked.promise;
    await clock.advance(500);
    expect(await failed).toBeInstanceOf(DeadlineExceededError);
  });

  test("ends a handler, even if it ignores the signal", async () => {
    const clock = fakeClock();
    const client = scriptedClient(callWork, { text: "Done." });
    const deadline = Deadline.after(500, clock);
    const { begun, stall } = createStall();
    const failed = catchFailure(
      client.evaluate(createPrompt(stall), { session: new Session(), deadline }),
    );
    await begun;
    await clock.advance(500);
    expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
    expect(client.asked).toHaveLength(1);
  });

  test("is passed to handlers", async () => {
    const clock = fakeClock();
    const deadline = Deadline.after(500, clock);
    const seen: unknown[] = [];
    const prompt = createPrompt((context) => {
      seen.push(context.deadline, context.signal.aborted);
      return ToolResult.ok(null);
    });
    const client = scriptedClient(callWork, { text: "Done." });
    await client.evaluate(prompt, { session: new Session(), deadline });
    expect(seen).toEqual([deadline, false]);
  });

  test("ends the wait for the session", async () => {
    const clock = fakeClock();
    const session = new Session();
    const gate = Promise.withResolvers<void>();
    const busy = scriptedClient(() => gate.promise.then(() => ({ text: "first" })));
    const first = busy.evaluate(createPrompt(), { session });
    const client = scriptedClient({ text: "second" });
    const deadline = Deadline.after(500, clock);
    const failed = catchFailure(client.evaluate(createPrompt(), { session, deadline }));
    await clock.advance(500);
    expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "request" });
    expect(client.asked).toEqual([]);
    gate.resolve();
    expect(await first).toMatchObject({ text: "first" });
  });

  describe("with a late timer", () => {
    /** Returns a clock without timers. */
    const createStoppedClock = () => {
      const clock = { time: 0, now: () => clock.time, sleep: waitForever };
      return clock satisfies Clock;
    };

    test("is checked between turns", async () => {
      const clock = createStoppedClock();
      const prompt = createPrompt(() => {
        clock.time = 1_000;
        return ToolResult.ok(null);
      });
      const client = scriptedClient(callWork, { text: "Done." });
      const deadline = Deadline.after(500, clock);
      const failed = catchFailure(client.evaluate(prompt, { session: new Session(), deadline }));
      expect(await failed).toMatchObject({ phase: "request", partial: { turns: 1 } });
      expect(client.asked).toHaveLength(1);
    });

    test("is checked between calls", async () => {
      const clock = createStoppedClock();
      let times = 0;
      const prompt = createPrompt(() => {
        clock.time = 1_000;
        return ToolResult.ok(times++);
      });
      const client = scriptedClient({ toolCalls: [{ name: "work" }, { name: "work" }] });
      const deadline = Deadline.after(500, clock);
      const failed = catchFailure(client.evaluate(prompt, { session: new Session(), deadline }));
      expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
      expect(times).toBe(1);
    });

    test("is checked before a turn's calls", async () => {
      const clock = createStoppedClock();
      const client = scriptedClient(() => {
        clock.time = 1_000;
        return callWork;
      });
      const deadline = Deadline.after(500, clock);
      const failed = catchFailure(
        client.evaluate(createPrompt(), { session: new Session(), deadline }),
      );
      expect(await failed).toMatchObject({ name: "DeadlineExceededError", phase: "tool" });
    });

    test("is checked at the end", async () => {
      const clock = createStoppedClock();
      const client = scriptedClient(() => {
        clock.time = 500;
        return { text: "Too late." };
      });
      const deadline = Deadline.after(500, clock);
      const failed = catchFailure(
        client.evaluate(createPrompt(), { session: new Session(), deadline }),
      );
      expect(await failed).toMatchObject({
        name: "DeadlineExceededError",
        phase: "response",
        partial: { text: "Too late.", turns: 1 },
      });
    });
  });

  test("that is not reached has no effect", async () => {
    const clock = fakeClock();
    const deadline = Deadline.after(500, clock);
    const client = scriptedClient({ text: "In time." });
    const evaluation = client.evaluate(createPrompt(), { session: new Session(), deadline });
    expect(await evaluation).toMatchObject({ text: "In time." });
  });
});

describe("cancellation", () => {
  test.each([
    ["an error", new Error("stop")],
    [
      "a PromptEvaluationError",
      new PromptEvaluationError("stop", { promptName: "x", phase: "tool" }),
    ],
    ["a string", "stop"],
    ["a number", 0],
    ["null", null],
    ["an object", { why: "stop" }],
  ])("before the start rejects with the reason unchanged: %s", async (_, reason) => {
    const client = scriptedClient({ text: "hi" });
    const signal = AbortSignal.abort(reason);
    const evaluation = client.evaluate(createPrompt(), { session: new Session(), signal });
    expect(await catchFailure(evaluation)).toBe(reason);
    expect(client.asked).toEqual([]);
  });

  test("without a reason rejects with the signal's default reason", async () => {
    const signal = AbortSignal.abort();
    const evaluation = scriptedClient().evaluate(createPrompt(), {
      session: new Session(),
      signal,
    });
    expect(await catchFailure(evaluation)).toBe(signal.reason);
  });

  test.each([["stop"], [null], [new Error("stop")]])(
    "ends a request in flight, even if it ignores the signal: %s",
    async (reason) => {
      const controller = new AbortController();
      const { begun, stall } = createStall();
      const { signal } = controller;
      const evaluation = scriptedClient(stall).evaluate(createPrompt(), {
        session: new Session(),
        signal,
      });
      const failed = catchFailure(evaluation);
      await begun;
      controller.abort(reason);
      expect(await failed).toBe(reason);
    },
  );

  test("takes precedence over the client's error", async () => {
    const controller = new AbortController();
    const client = scriptedClient(() => {
      controller.abort("stop");
      throw new PromptEvaluationError("aborted", { promptName: "", phase: "request" });
    });
    const { signal } = controller;
    const evaluation = client.evaluate(createPrompt(), { session: new Session(), signal });
    expect(await catchFailure(evaluation)).toBe("stop");
  });

  test("ends a handler that ignores the signal", async () => {
    const bus = recordingBus();
    const controller = new AbortController();
    const prompt = createPrompt(() => {
      controller.abort("stop");
      return waitForever();
    });
    const client = scriptedClient(callWork, { text: "Done." });
    const { signal } = controller;
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }), signal });
    expect(await catchFailure(evaluation)).toBe("stop");
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("ends a handler that checks the signal", async () => {
    const controller = new AbortController();
    const prompt = createPrompt(({ signal }) => {
      controller.abort("stop");
      signal.throwIfAborted();
      return ToolResult.ok(null);
    });
    const { signal } = controller;
    const evaluation = scriptedClient(callWork).evaluate(prompt, {
      session: new Session(),
      signal,
    });
    expect(await catchFailure(evaluation)).toBe("stop");
  });

  test("is noticed even if the handler succeeds", async () => {
    const controller = new AbortController();
    const prompt = createPrompt(() => {
      controller.abort("stop");
      return ToolResult.ok(null);
    });
    const client = scriptedClient(callWork, { text: "Done." });
    const { signal } = controller;
    const evaluation = client.evaluate(prompt, { session: new Session(), signal });
    expect(await catchFailure(evaluation)).toBe("stop");
    expect(client.asked).toHaveLength(1);
  });

  test("by a subscriber to the last turn prevents the answer", async () => {
    const bus = recordingBus();
    const controller = new AbortController();
    bus.subscribe("TurnCompleted", () => controller.abort("stop"));
    const { signal } = controller;
    const client = scriptedClient({ text: "Done." });
    const evaluation = client.evaluate(createPrompt(), { session: new Session({ bus }), signal });
    expect(await catchFailure(evaluation)).toBe("stop");
    expect(bus.of("PromptExecuted")).toEqual([]);
  });

  test("ends the wait for the session", async () => {
    const session = new Session();
    const gate = Promise.withResolvers<void>();
    const first = scriptedClient(() => gate.promise.then(() => ({ text: "first" }))).evaluate(
      createPrompt(),
      { session },
    );
    const controller = new AbortController();
    const { signal } = controller;
    const client = scriptedClient({ text: "second" });
    const failed = catchFailure(client.evaluate(createPrompt(), { session, signal }));
    controller.abort("stop");
    expect(await failed).toBe("stop");
    const third = scriptedClient({ text: "third" }).evaluate(createPrompt(), { session });
    gate.resolve();
    expect(await first).toMatchObject({ text: "first" });
    expect(await third).toMatchObject({ text: "third" });
  });

  test("takes precedence over a deadline that has passed", async () => {
    const clock = fakeClock({ now: 10 });
    const deadline = Deadline.at(new Date(0), clock);
    const signal = AbortSignal.abort("stop");
    const options = { session: new Session(), signal, deadline };
    expect(await catchFailure(scriptedClient().evaluate(createPrompt(), options))).toBe("stop");
  });

  test("after the answer has no effect", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = scriptedClient({ text: "Done." });
    const response = await client.evaluate(createPrompt(), { session: new Session(), signal });
    controller.abort("stop");
    expect(response.text).toBe("Done.");
  });
});
