import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readAll, startManualStream } from "../../../tests/support/manual-stream.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { InProcessEventBus } from "../../session/event-bus.ts";
import { Session } from "../../session/session.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import type { EvaluationStream } from "../evaluation-stream.ts";
import { streamEvaluation } from "./stream-evaluation.ts";

const tick = new Tool({
  name: "tick",
  description: "Ticks.",
  params: null,
  handler: () => ToolResult.ok(null, "tock"),
});
const task = new MarkdownSection({ key: "task", title: "Task", template: "Tick.", tools: [tick] });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "tick", sections: [task] }));

const unhandled: unknown[] = [];
const onUnhandled = (error: unknown) => void unhandled.push(error);
beforeEach(() => void process.on("unhandledRejection", onUnhandled));
afterEach(async () => {
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

describe("streamEvaluation()", () => {
  test("delivers parts and bus events in order, across turns and tool calls", async () => {
    const model = scriptedClient(
      { deltas: ["I", " tick."], toolCalls: [{ name: "tick", callId: "c" }] },
      { deltas: ["Do", "ne."] },
    );
    const events = await readAll(model.stream(prompt));
    const labels = events.map((event) =>
      event.type === "bus"
        ? event.event.type
        : `${event.type} ${"delta" in event ? event.delta : ""}`,
    );
    expect(labels).toEqual([
      "PromptRendered",
      ...["TurnStarted", "text I", "text  tick.", "toolCall {}", "TurnCompleted", "ToolInvoked"],
      ...["TurnStarted", "text Do", "text ne.", "TurnCompleted"],
      "PromptExecuted",
    ]);
  });

  test("starts at once, and its response needs no reader", async () => {
    const model = scriptedClient({ text: "Done." });
    const stream = model.stream(prompt);
    const response = await stream.response;
    expect([response.text, model.asked.length]).toEqual(["Done.", 1]);
    expect(response.session).toBeInstanceOf(Session);
  });

  test("creates a session, or uses the one that it receives", async () => {
    expect(startManualStream().given.session).toBeInstanceOf(Session);
    const session = new Session();
    expect(startManualStream({ session }).given.session).toBe(session);
  });

  test("passes the other options on", () => {
    const { given } = startManualStream({ maxTurns: 3, input: "Hello." });
    expect(given).toMatchObject({ maxTurns: 3, input: "Hello." });
  });

  test.each([
    ["an unknown key", { sesion: 1 }],
    ["no object", "text"],
    ["an array", []],
    ["a session of another type", { session: {} }],
    ["a signal of another type", { signal: {} }],
    ["a wrong number", { maxTurns: 0 }],
  ])("reports options with %s like evaluate()", async (_what, options) => {
    const model = scriptedClient({ text: "never" });
    const expected = await model
      .evaluate(prompt, options as never)
      .catch((error: unknown) => error);
    expect(expected).toBeInstanceOf(PromptEvaluationError);
    const stream = model.stream(prompt, options as never);
    await expect(stream.response).rejects.toThrow(String((expected as Error).message));
    for (const reader of [stream, stream.text(), stream.partialOutput()]) {
      await expect(readAll<unknown>(reader)).rejects.toThrow((expected as Error).message);
    }
    expect(model.asked).toEqual([]);
  });

  test("accepts null for options, like evaluate()", async () => {
    const stream = scriptedClient({ text: "Done." }).stream(prompt, null as never);
    expect((await stream.response).text).toBe("Done.");
  });

  test("reports a prompt that is none like evaluate()", async () => {
    const stream = scriptedClient({ text: "never" }).stream(undefined as never);
    await expect(stream.response).rejects.toThrow("evaluate(prompt) must be a Prompt");
  });

  test("rejects the response if the adapter or the bus throws at once", async () => {
    const fail = () => {
      throw new Error("broken");
    };
    await expect(streamEvaluation(prompt, {}, fail).response).rejects.toThrow("broken");
    const session = new Session();
    session.bus.subscribe = fail;
    const stream = scriptedClient({ text: "never" }).stream(prompt, { session });
    await expect(stream.response).rejects.toThrow("broken");
  });

  test("leaves no rejection unhandled if only events are read, or nothing", async () => {
    scriptedClient(new Error("down")).stream(prompt);
    const stream = scriptedClient(new Error("down")).stream(prompt);
    await expect(readAll(stream)).rejects.toThrow("down");
  });

  test("ends every reader with the error of the evaluation, after its events", async () => {
    const stream = scriptedClient({ deltas: ["Hi"], toolCalls: [{ name: "tick" }] }).stream(prompt);
    await stream.response.catch(() => {});
    const types: string[] = [];
    const readTypes = async () => {
      for await (const event of stream) types.push(event.type);
    };
    await expect(readTypes()).rejects.toThrow("The script has no step for request 2");
    expect(types.filter((type) => type !== "bus")).toEqual(["text", "toolCall"]);
    await expect(readAll(stream.text())).rejects.toThrow("The script has no step for request 2");
  });
});

describe("EvaluationStream.cancel()", () => {
  const stall = () => new Promise<never>(() => {});

  const expectCancelled = async (stream: EvaluationStream<string>, reason: unknown) => {
    expect(await stream.response.catch((error: unknown) => error)).toBe(reason);
    expect(await readAll(stream).catch((error: unknown) => error)).toBe(reason);
  };

  test("rejects the response and ends readers with its reason", async () => {
    const stream = scriptedClient(stall).stream(prompt);
    const reason = { any: "thing" };
    stream.cancel(reason);
    await expectCancelled(stream, reason);
  });

  test("rejects with an AbortError by default", async () => {
    const stream = scriptedClient(stall).stream(prompt);
    stream.cancel();
    const error = await stream.response.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DOMException);
    expect(error).toMatchObject({ name: "AbortError" });
  });

  test("has no effect after the end", async () => {
    const stream = scriptedClient({ text: "Done." }).stream(prompt);
    await stream.response;
    stream.cancel(new Error("late"));
    expect((await stream.response).text).toBe("Done.");
    expect(await readAll(stream.text())).toEqual(["Done."]);
  });

  test("is what the caller's signal does", async () => {
    const stop = new AbortController();
    const stream = scriptedClient(stall).stream(prompt, { signal: stop.signal });
    stop.abort({ my: "reason" });
    await expectCancelled(stream, stop.signal.reason);
    const late = scriptedClient(stall).stream(prompt, { signal: stop.signal });
    await expectCancelled(late, stop.signal.reason);
  });
});

describe("EvaluationStream.close()", () => {
  test("cancels the evaluation and waits until it has ended", async () => {
    const { stream, given } = startManualStream();
    await stream.close();
    expect(given.signal?.aborted).toBe(true);
    await expect(stream.response).rejects.toMatchObject({ name: "AbortError" });
    await stream.close();
  });

  test("is what `await using` does", async () => {
    const { stream, say, given } = startManualStream();
    {
      await using scoped = stream;
      say("Hi");
      const { value } = await scoped.text()[Symbol.asyncIterator]().next();
      expect(value).toBe("Hi");
    }
    expect(given.signal?.aborted).toBe(true);
  });

  test("keeps the response of an evaluation that has ended, and does not abort its signal", async () => {
    const { stream, answer, given } = startManualStream();
    await answer("All.");
    await stream.close();
    expect((await stream.response).text).toBe("All.");
    expect(given.signal?.aborted).toBe(false);
  });

  test("leaves no subscription on the bus and no listener on the signal", async () => {
    const bus = new InProcessEventBus();
    const stop = new AbortController();
    const { stream, say } = startManualStream({
      session: new Session({ bus }),
      signal: stop.signal,
    });
    const reader = stream[Symbol.asyncIterator]();
    say("Hi");
    await reader.next();
    expect([bus.hears("TurnStarted"), getEventListeners(stop.signal, "abort").length]).toEqual([
      true,
      1,
    ]);
    await stream.close();
    expect([bus.hears("TurnStarted"), getEventListeners(stop.signal, "abort").length]).toEqual([
      false,
      0,
    ]);
  });

  test("leaves nothing behind after an evaluation that ends by itself, without close()", async () => {
    const bus = new InProcessEventBus();
    const stop = new AbortController();
    const session = new Session({ bus });
    const { answer } = startManualStream({ session, signal: stop.signal });
    await answer();
    expect(bus.hears("TurnStarted")).toBe(false);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });
});
