import { describe, expect, test } from "vitest";
import { startManualStream } from "../../../tests/support/manual-stream.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import type { BusEvent } from "../../session/event-map.ts";
import { Session } from "../../session/session.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { createEventResponse } from "./create-event-response.ts";
import { EventLog } from "./event-log.ts";

/** Parses server-sent events as a browser does. */
function parseEvents(text: string) {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const event = /^event: (.*)$/m.exec(block)?.[1] ?? "message";
      const data: unknown = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "");
      return { event, data };
    });
}

const readEvents = async (response: Response) => parseEvents(await response.text());

describe("toResponse()", () => {
  test("sends an event per part, and then the response", async () => {
    const { stream, say, answer } = startManualStream();
    const response = stream.toResponse();
    say("Hel", "lo.");
    await answer("Hello.");
    const lines = await response.text();
    expect(lines).toBe(
      'data: {"type":"text","turn":1,"delta":"Hel"}\n\n' +
        'data: {"type":"text","turn":1,"delta":"lo."}\n\n' +
        "event: response\n" +
        'data: {"text":"Hello.","citations":[],"usage":{"inputTokens":0,"outputTokens":0,' +
        '"cachedTokens":0,"reasoningTokens":0,"totalTokens":0},"finishReason":"stop",' +
        '"output":"Hello."}\n\n',
    );
  });

  test("has the headers of server-sent events, unless they are set", () => {
    const { stream } = startManualStream();
    const headers = Object.fromEntries(stream.toResponse().headers);
    expect(headers).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    const other = stream.toResponse({
      status: 202,
      statusText: "Started",
      headers: { "Cache-Control": "no-store", "x-request": "7" },
    });
    expect([other.status, other.statusText]).toEqual([202, "Started"]);
    expect(Object.fromEntries(other.headers)).toEqual({
      ...headers,
      "cache-control": "no-store",
      "x-request": "7",
    });
  });

  test("sends text and the status of hosted calls by default, without their code", async () => {
    const { stream, feed, say, answer, given } = startManualStream();
    const call = { type: "hostedCall", turn: 1, callId: "h1", kind: "python" } as const;
    feed.onPart({ type: "reasoning", turn: 1, delta: "secret thoughts" });
    feed.onPart({ ...call, status: "in_progress" });
    feed.onPart({ ...call, status: "in_progress", delta: "print(" });
    feed.onPart({ ...call, status: "in_progress", delta: "1)" });
    feed.onPart({ ...call, status: "completed" });
    feed.onPart({ type: "toolCall", turn: 1, callId: "c", name: "pay", delta: "{secret}" });
    given.session?.dispatch({ type: "Custom", secret: true } as never as BusEvent);
    say("Done.");
    await answer();
    const sent = (await readEvents(stream.toResponse())).slice(0, -1).map(({ data }) => data);
    expect(sent).toEqual([
      { ...call, status: "in_progress" },
      { ...call, status: "completed" },
      { type: "text", turn: 1, delta: "Done." },
    ]);
  });

  test("sends what `include` names, also the code of hosted calls", async () => {
    const { stream, feed, say, answer, given } = startManualStream();
    const call = { type: "hostedCall", turn: 1, callId: "h1", kind: "python" } as const;
    const code = { ...call, status: "in_progress", delta: "print(1)" };
    const reasoning = { type: "reasoning", turn: 1, delta: "hm" } as const;
    const toolCall = { type: "toolCall", turn: 1, callId: "c", name: "pay", delta: "{}" } as const;
    for (const part of [reasoning, code, toolCall]) feed.onPart(part);
    given.session?.dispatch({ type: "Custom", note: 1 } as never as BusEvent);
    feed.onRestart(1);
    say("Done.");
    await answer();
    const send = async (
      ...include: readonly ("bus" | "hostedCall" | "reasoning" | "restart" | "toolCall")[]
    ) => (await readEvents(stream.toResponse({ include }))).slice(0, -1).map(({ data }) => data);
    expect(await send("reasoning", "toolCall")).toEqual([reasoning, toolCall]);
    expect(await send("hostedCall")).toEqual([code]);
    expect(await send("bus")).toEqual([{ type: "bus", event: { type: "Custom", note: 1 } }]);
    expect(await send("restart")).toEqual([{ type: "restart", turn: 1 }]);
    expect(await send()).toEqual([]);
  });

  test("sends restarts with text", async () => {
    const { stream, feed, say, answer } = startManualStream();
    say("Hel");
    feed.onRestart(1);
    say("Hello.");
    await answer("Hello.");
    const types = async (response: Response) =>
      (await readEvents(response)).map(({ data }) => Object(data).type);
    const expected = ["text", "restart", "text", undefined];
    expect(await types(stream.toResponse())).toEqual(expected);
    expect(await types(stream.toResponse({ include: ["text"] }))).toEqual(expected);
  });

  test("sends the class of an error, and no details", async () => {
    const { stream, fail } = startManualStream();
    await fail(new TypeError("the key sk-123 is wrong"));
    expect(await readEvents(stream.toResponse())).toEqual([
      { event: "error", data: { name: "TypeError", message: "The evaluation failed." } },
    ]);
    const cancelled = startManualStream();
    cancelled.stream.cancel("because of sk-123");
    expect(await readEvents(cancelled.stream.toResponse())).toEqual([
      { event: "error", data: { name: "Error", message: "The evaluation failed." } },
    ]);
  });

  test("preserves line breaks, separators, lone surrogates and split emoji", async () => {
    const { stream, say, answer } = startManualStream();
    const deltas = [
      "a\r\nb\n\ndata: x\r",
      "\u2028\u2029\u0085",
      "\ud800",
      "\ud83e",
      "\udd89",
      "\0",
    ];
    say(...deltas);
    await answer(deltas.join(""));
    const events = await readEvents(stream.toResponse());
    expect(events.slice(0, -1).map(({ data }) => Object(data).delta)).toEqual(deltas);
    expect(Object(events.at(-1)?.data).text).toBe(deltas.join(""));
  });

  test("sends only the type of a bus event that is not JSON, and omits such an output", async () => {
    const log = new EventLog();
    const event = { type: "Custom", count: 1n } as never as BusEvent;
    log.append({ type: "bus", event });
    const response = { text: "t", output: { count: 1n }, citations: [], usage: 0 };
    log.end({ response: { ...response, finishReason: "stop" } as never });
    const sent = createEventResponse({ log, onAbandoned() {} }, { include: ["bus"] });
    expect(await readEvents(sent)).toEqual([
      { event: "message", data: { type: "bus", event: { type: "Custom" } } },
      { event: "response", data: { text: "t", citations: [], usage: 0, finishReason: "stop" } },
    ]);
  });

  test("sends the events that are ready in one chunk of at most about 64 KiB", async () => {
    const { stream, say, answer } = startManualStream();
    for (let part = 0; part < 100; part++) say("x".repeat(1_000));
    await answer();
    const chunks: number[] = [];
    for await (const chunk of stream.toResponse().body ?? []) chunks.push(chunk.length);
    expect(chunks).toHaveLength(3);
    expect(Math.max(...chunks)).toBeLessThan(67_000);
  });

  test("is read as fast as its body is: a body that is not read does not read the stream", async () => {
    const { stream, say, feed, answer } = startManualStream();
    const reader = stream.toResponse().body?.getReader();
    say("x".repeat(600_000));
    expect(feed.backlog).toBeNull(); // not a reader yet
    await reader?.read();
    say("x".repeat(600_000));
    expect(feed.backlog).not.toBeNull();
    await reader?.read();
    expect(feed.backlog).toBeNull();
    await answer();
  });

  test("cancels the evaluation if its body is cancelled and no other reader is left", async () => {
    for (const reads of [0, 1]) {
      const { stream, say, given } = startManualStream();
      say("Hi");
      const other = stream[Symbol.asyncIterator]();
      await other.next();
      const [first, second] = [stream.toResponse().body, stream.toResponse().body];
      const readers = [first?.getReader(), second?.getReader()];
      for (let read = 0; read < reads; read++) await Promise.all(readers.map((r) => r?.read()));
      await readers[0]?.cancel();
      expect(given.signal?.aborted).toBe(false);
      await other.return?.();
      expect(given.signal?.aborted).toBe(reads === 0);
      await readers[1]?.cancel();
      expect(given.signal?.aborted).toBe(true);
    }
  });

  test("may be cancelled while it waits for an event, and after the end", async () => {
    const waiting = startManualStream();
    const reader = waiting.stream.toResponse().body?.getReader();
    const read = reader?.read();
    await reader?.cancel();
    expect(await read).toEqual({ value: undefined, done: true });
    expect(waiting.given.signal?.aborted).toBe(true);
    const ended = startManualStream();
    await ended.answer();
    await ended.stream.toResponse().body?.cancel();
    expect((await ended.stream.response).text).toBe("Done.");
  });

  test("may be cancelled at the moment when an event arrives", async () => {
    const { stream, say, given } = startManualStream();
    const reader = stream.toResponse().body?.getReader();
    const read = reader?.read();
    await Promise.resolve();
    await Promise.resolve();
    say("Hi");
    await reader?.cancel();
    expect(await read).toEqual({ value: undefined, done: true });
    expect(given.signal?.aborted).toBe(true);
  });

  test("ends with an error event if the events are gone when the body is first read", async () => {
    const { stream, answer } = startManualStream();
    const response = stream.toResponse();
    await answer();
    await stream.close();
    const data = { name: "StreamReadError", message: "The evaluation failed." };
    expect(await readEvents(response)).toEqual([{ event: "error", data }]);
  });

  test.each([
    [["text", "texts"], 'must contain types of events, got "texts". Use some of "text", "reason'],
    ["text", 'must be an array, got "text". Use some of "text", "reasoning", "toolCall", "hosted'],
  ])("refuses %j for include", (include, message) => {
    const { stream } = startManualStream();
    const callToResponse = () => stream.toResponse({ include } as never);
    expect(callToResponse).toThrow(InvalidOptionError);
    expect(callToResponse).toThrow(`toResponse(init).include ${message}`);
  });

  test("refuses unknown options", () => {
    const { stream } = startManualStream();
    expect(() => stream.toResponse({ includes: [] } as never)).toThrow('Did you mean "include"?');
  });

  test("sends partial output of a real evaluation, with its session's events if asked", async () => {
    const section = new MarkdownSection({ key: "s", title: "S", template: "Hi." });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "s", sections: [section] }));
    const session = new Session();
    const model = scriptedClient({ deltas: ["Hel", "lo."] });
    const response = model.stream(prompt, { session }).toResponse({ include: ["text", "bus"] });
    const types = (await readEvents(response)).map(
      ({ event, data }) => Object(data).event?.type ?? Object(data).type ?? event,
    );
    expect(types).toEqual([
      ...["PromptRendered", "TurnStarted", "text", "text", "TurnCompleted", "PromptExecuted"],
      "response",
    ]);
  });
});

describe("keep-alive comments", () => {
  const start = () => {
    const clock = fakeClock();
    const log = new EventLog();
    const response = createEventResponse({ log, onAbandoned() {} }, {}, clock);
    const reader = response.body?.getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    const say = (delta: string) => log.append({ type: "text", turn: 1, delta });
    return { clock, log, reader, read, say };
  };

  test("are sent every 15 seconds while there is nothing else to send", async () => {
    const { clock, read, say, reader } = start();
    say("Hi");
    expect(await read()).toContain("Hi");
    let comment = read();
    await clock.advance(10_000);
    say("you");
    expect(await comment).toContain("you");
    comment = read();
    await clock.advance(14_999);
    const early = await Promise.race([comment, Promise.resolve("nothing")]);
    expect(early).toBe("nothing");
    await clock.advance(1);
    expect(await comment).toBe(": keep-alive\n\n");
    comment = read();
    await clock.advance(15_000);
    expect(await comment).toBe(": keep-alive\n\n");
    await reader?.cancel();
    expect(clock.sleeping).toBe(0);
  });

  test("do not pile up while nothing reads the body", async () => {
    const { clock, read, say, log } = start();
    say("Hi");
    await read();
    const waiting = read();
    await clock.advance(100_000);
    expect(await waiting).toBe(": keep-alive\n\n");
    say("you");
    log.end({ error: new Error("down") });
    let rest = "";
    for (let chunk = await read(); chunk !== ""; chunk = await read()) rest += chunk;
    expect(rest.split(": keep-alive")).toHaveLength(2);
    expect(rest).toMatch(/you.*event: error/s);
    expect(clock.sleeping).toBe(0);
  });

  test("need no timer before the body is read, and after it has ended", async () => {
    const { clock, read, log } = start();
    expect(clock.sleeping).toBe(0);
    const waiting = read();
    await clock.advance(0);
    expect(clock.sleeping).toBe(1);
    log.end({ error: new Error("down") });
    expect(await waiting).toContain("event: error");
    expect(clock.sleeping).toBe(0);
  });
});
