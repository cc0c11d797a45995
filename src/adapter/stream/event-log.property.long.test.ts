import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamEvent } from "../evaluation-stream.ts";
import { estimateSize } from "./estimate-size.ts";
import { EventLog, type LogCursor } from "./event-log.ts";

const MIB = 1024 * 1024;

/** What a test does with a log. `reader` and `count` select among the readers and events. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ append: fc.nat({ max: 300_000 }) }) },
  { weight: 1, arbitrary: fc.record({ attach: fc.constant(true) }) },
  { weight: 4, arbitrary: fc.record({ reader: fc.nat(), take: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ reader: fc.nat(), detach: fc.constant(true) }) },
);

interface Reader {
  readonly cursor: LogCursor;
  count: number;
}

test("every reader gets every event in order, and the connection pauses for readers that are behind", () => {
  const property = fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
    const log = new EventLog();
    const all: StreamEvent[] = [];
    let readers: Reader[] = [];
    const sum = (events: readonly StreamEvent[]) =>
      events.reduce((bytes, event) => bytes + estimateSize(event), 0);
    for (const action of steps) {
      const reader = "reader" in action ? readers[action.reader % readers.length] : undefined;
      if ("append" in action) {
        const event: StreamEvent = { type: "text", turn: 1, delta: "x".repeat(action.append) };
        all.push(event);
        log.append(event);
      } else if ("attach" in action) {
        if (sum(all) > 8 * MIB) expect(() => log.attach()).toThrow("More than 8 MiB");
        else readers.push({ cursor: log.attach(), count: 0 });
      } else if (reader && "take" in action) {
        for (let count = 0; count < action.take; count++) {
          const event = reader.cursor.take();
          expect(event).toBe(all[reader.count]);
          if (event) reader.count += 1;
        }
      } else if (reader) {
        expect(reader.cursor.detach()).toBe(readers.length === 1);
        readers = readers.filter((other) => other !== reader);
      }
      const waiting = readers.map(({ count }) => sum(all.slice(count)));
      const most = Math.max(0, ...waiting);
      if (log.backlog) expect(most).toBeGreaterThan(MIB / 2);
      // A reader that starts late is behind at once, and pauses the connection with the next event.
      else if ("append" in action) expect(most).toBeLessThanOrEqual(MIB);
      expect([log.length, log.hasReaders]).toEqual([all.length, readers.length > 0]);
    }
    for (const { cursor, count } of readers) {
      for (const event of all.slice(count)) expect(cursor.take()).toBe(event);
      expect(cursor.take()).toBeUndefined();
    }
  });
  fc.assert(property, { numRuns: 200 });
});
