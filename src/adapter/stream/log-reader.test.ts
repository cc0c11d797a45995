import { describe, expect, test } from "vitest";
import { readAll, startManualStream } from "../../../tests/support/manual-stream.ts";
import { StreamReadError } from "./stream-read-error.ts";

/** A little more than the bytes after which a reader pauses the connection, as text. */
const PAUSING = "x".repeat(512 * 1024 + 1);

describe("readers of a stream", () => {
  test("get all events from the beginning, each at its own pace", async () => {
    const { stream, say, answer } = startManualStream();
    say("a", "b");
    const early = stream.text()[Symbol.asyncIterator]();
    expect((await early.next()).value).toBe("a");
    say("c");
    await answer();
    say("after the end");
    expect(await readAll(stream.text())).toEqual(["a", "b", "c"]);
    expect((await early.next()).value).toBe("b");
    expect(await readAll(stream)).toHaveLength(3);
    expect((await early.next()).value).toBe("c");
    expect(await early.next()).toEqual({ value: undefined, done: true });
    expect(await early.next()).toEqual({ value: undefined, done: true });
  });

  test("that wait are answered in order, also if calls of next() overlap", async () => {
    const { stream, say, feed, answer } = startManualStream();
    const reader = stream.text()[Symbol.asyncIterator]();
    const results = [reader.next(), reader.next(), reader.next(), reader.next()];
    feed.onPart({ type: "reasoning", turn: 1, delta: "hm" });
    say("a");
    say("b");
    await answer();
    expect((await Promise.all(results)).map(({ value }) => value)).toEqual([
      "a",
      "b",
      undefined,
      undefined,
    ]);
  });

  test("that wait get the error once, and then the end", async () => {
    const { stream, fail } = startManualStream();
    const reader = stream[Symbol.asyncIterator]();
    const results = [reader.next(), reader.next()];
    const settled = Promise.allSettled(results);
    const error = new Error("down");
    await fail(error);
    expect(await settled).toEqual([
      { status: "rejected", reason: error },
      { status: "fulfilled", value: { value: undefined, done: true } },
    ]);
  });

  test("cancel the evaluation when the last one leaves before the end", async () => {
    const { stream, say, given } = startManualStream();
    say("a");
    const other = stream[Symbol.asyncIterator]();
    await other.next();
    for await (const _delta of stream.text()) break;
    expect(given.signal?.aborted).toBe(false);
    expect(await other.return?.()).toEqual({ value: undefined, done: true });
    expect(given.signal?.aborted).toBe(true);
    await expect(stream.response).rejects.toMatchObject({
      name: "AbortError",
      message: "The last reader left the stream before the evaluation ended",
    });
    expect(await other.next()).toEqual({ value: undefined, done: true });
  });

  test("that wait are ended by return(), and leaving twice does nothing", async () => {
    const { stream, given } = startManualStream();
    const readers = [stream[Symbol.asyncIterator](), stream.text()[Symbol.asyncIterator]()];
    const waiting = readers.map((reader) => reader.next());
    await readers[0]?.return?.();
    await readers[0]?.return?.();
    expect(await waiting[0]).toEqual({ value: undefined, done: true });
    expect(given.signal?.aborted).toBe(false);
    await readers[1]?.return?.();
    expect(given.signal?.aborted).toBe(true);
  });

  test("leave by throw() too, which rejects with its error", async () => {
    const { stream, say, given } = startManualStream();
    say("a");
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    await expect(reader.throw?.(new Error("mine"))).rejects.toThrow("mine");
    expect(given.signal?.aborted).toBe(true);
  });

  test("do not count before their first next()", async () => {
    const { stream, say, given, answer } = startManualStream();
    say("a");
    const reader = stream[Symbol.asyncIterator]();
    await reader.return?.();
    expect(given.signal?.aborted).toBe(false);
    await answer();
  });

  test("may leave after the end without cancelling anything", async () => {
    const { stream, say, answer, given } = startManualStream();
    say("a", "b");
    await answer();
    for await (const _event of stream) break;
    expect(given.signal?.aborted).toBe(false);
  });
});

describe("a reader that is behind", () => {
  test("pauses the connection with 1 MiB waiting, until at most half of it waits", async () => {
    const { stream, say, feed, answer } = startManualStream();
    const reader = stream.text()[Symbol.asyncIterator]();
    say("first");
    await reader.next();
    for (let part = 0; part < 8; part++) say("x".repeat(64 * 1024 - 32));
    expect(feed.backlog).toBeNull();
    say("last");
    const { backlog } = feed;
    expect(backlog).toBeInstanceOf(Promise);
    for (let part = 0; part < 4; part++) await reader.next();
    expect(feed.backlog).toBe(backlog);
    await reader.next();
    await backlog;
    expect(feed.backlog).toBeNull();
    await answer();
  });

  test("no longer pauses the connection when it has left", async () => {
    const { stream, say, feed, answer } = startManualStream();
    const [slow, fast] = [stream.text(), stream.text()].map((text) => text[Symbol.asyncIterator]());
    say("a");
    await Promise.all([slow?.next(), fast?.next()]);
    say(PAUSING);
    await fast?.next();
    const { backlog } = feed;
    expect(backlog).not.toBeNull();
    await slow?.return?.();
    await backlog;
    expect(feed.backlog).toBeNull();
    await answer();
  });

  test("does not pause the connection if it waits for events, or if there is no reader", async () => {
    const { stream, say, feed, answer } = startManualStream();
    say(PAUSING, PAUSING);
    expect(feed.backlog).toBeNull();
    const reader = stream.text()[Symbol.asyncIterator]();
    for (let part = 0; part < 2; part++) await reader.next();
    const waiting = reader.next();
    say(PAUSING);
    expect(feed.backlog).toBeNull();
    await waiting;
    await answer();
  });

  test("does not keep a paused connection after the evaluation has ended", async () => {
    const { stream, say, feed } = startManualStream();
    say("a");
    await stream[Symbol.asyncIterator]().next();
    say(PAUSING);
    const { backlog } = feed;
    stream.cancel();
    await backlog;
    expect(feed.backlog).toBeNull();
  });
});

describe("a stream of more than 8 MiB", () => {
  const say8MiB = ({ say }: ReturnType<typeof startManualStream>) => {
    for (let part = 0; part < 9; part++) say("x".repeat(512 * 1024));
  };

  test("refuses new readers, while existing ones get all events", async () => {
    const manual = startManualStream();
    const { stream, say, answer } = manual;
    say("a");
    const reader = stream.text()[Symbol.asyncIterator]();
    await reader.next();
    say8MiB(manual);
    const message =
      "More than 8 MiB of events have passed, and they are no longer kept. " +
      "Start reading before the evaluation has sent 8 MiB, and before close().";
    for (const late of [stream, stream.text(), stream.partialOutput()]) {
      const reading = readAll<unknown>(late);
      await expect(reading).rejects.toBeInstanceOf(StreamReadError);
      await expect(reading).rejects.toThrow(message);
    }
    expect(() => stream.toResponse()).toThrow(message);
    say("z");
    await answer();
    const rest: string[] = [];
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      rest.push(next.value);
    }
    expect([rest.length, rest.at(-1)]).toEqual([10, "z"]);
  });

  test("without a reader drops its events above the limit, and its response is unaffected", async () => {
    const manual = startManualStream();
    say8MiB(manual);
    await manual.answer("All.");
    await expect(readAll(manual.stream)).rejects.toBeInstanceOf(StreamReadError);
    expect((await manual.stream.response).text).toBe("All.");
  });
});

describe("a closed stream", () => {
  test("refuses new readers", async () => {
    const { stream, answer } = startManualStream();
    await answer();
    await stream.close();
    await expect(readAll(stream)).rejects.toThrow(/^The stream is closed\. Start reading/);
    expect(() => stream.toResponse()).toThrow(StreamReadError);
  });

  test("ends readers that have not received all events: with its error, or as closed", async () => {
    const cancelled = startManualStream();
    const finished = startManualStream();
    const readers = [cancelled, finished].map(({ stream, say }) => {
      say("a", "b");
      return stream.text()[Symbol.asyncIterator]();
    });
    await Promise.all(readers.map((reader) => reader.next()));
    await finished.answer();
    await Promise.all([cancelled.stream.close(), finished.stream.close()]);
    await expect(readers[0]?.next()).rejects.toMatchObject({ name: "AbortError" });
    await expect(readers[1]?.next()).rejects.toThrow(StreamReadError);
  });

  test("ends readers that wait, with the error of the cancelled evaluation", async () => {
    const { stream } = startManualStream();
    const waiting = stream.text()[Symbol.asyncIterator]().next();
    const closing = stream.close();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await closing;
  });
});
