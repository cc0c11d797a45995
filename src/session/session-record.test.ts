import { expect, test } from "vitest";
import { findRecordProblem } from "./session-record.ts";

const header = {
  n: 0,
  kind: "session",
  version: 1,
  id: "s",
  createdAt: "2030-01-01T12:00:00.000Z",
  tags: { team: "search" },
};
const whole: readonly object[] = [
  header,
  { n: 1, kind: "slice", id: "till", policy: "state" },
  { n: 2, kind: "slice", id: "sales", policy: "log" },
  { n: 3, kind: "event", event: { type: "TicketSold" } },
  { n: 4, kind: "event", event: { type: "TicketSold" }, failed: ["till"] },
  { n: 5, kind: "restored", to: 4 },
  { n: 6, kind: "loaded", states: {} },
  {
    n: 7,
    kind: "events",
    events: [{ event: { type: "TicketSold" } }, { event: { type: "B" }, failed: ["till"] }],
  },
];

test.each(whole.map((record, n) => [n, record] as const))(
  "findRecordProblem() accepts record %i: %j",
  (n, record) => {
    expect(findRecordProblem(record, n)).toBeNull();
  },
);

test.each([1, 2])("findRecordProblem() accepts a session of record version %i", (version) => {
  expect(findRecordProblem({ ...header, version }, 0)).toBeNull();
});

test.each<readonly [number, unknown, string]>([
  [0, null, "it is null"],
  [0, [], "it is []"],
  [0, {}, "its number is undefined"],
  [1, header, "its number is 0"],
  [1, { ...header, n: 1 }, 'its kind is "session"'],
  [0, { n: 0, kind: "slice" }, 'its kind is "slice"'],
  [1, { n: 1, kind: "toString" }, 'its kind is "toString"'],
  [1, { n: 1, kind: 5 }, "its kind is 5"],
  [1, { n: 1, kind: "slice", id: "till" }, 'it is not a complete "slice" record'],
  [1, { n: 1, kind: "slice", policy: "log" }, 'not a complete "slice" record'],
  [1, { n: 1, kind: "event" }, 'not a complete "event" record'],
  [1, { n: 1, kind: "event", event: {} }, 'not a complete "event" record'],
  [1, { n: 1, kind: "event", event: { type: "A" }, failed: "x" }, 'not a complete "event" record'],
  [1, { n: 1, kind: "event", event: { type: "A" }, failed: [1] }, 'not a complete "event" record'],
  [1, { n: 1, kind: "restored" }, 'not a complete "restored" record'],
  [1, { n: 1, kind: "restored", to: 0 }, 'not a complete "restored" record'],
  [1, { n: 1, kind: "restored", to: 2 }, 'not a complete "restored" record'],
  [1, { n: 1, kind: "restored", to: 0.5 }, 'not a complete "restored" record'],
  [1, { n: 1, kind: "loaded", states: [] }, 'not a complete "loaded" record'],
  [1, { n: 1, kind: "events" }, 'not a complete "events" record'],
  [1, { n: 1, kind: "events", events: [{ type: "A" }] }, 'not a complete "events" record'],
  [1, { n: 1, kind: "events", events: [null] }, 'not a complete "events" record'],
  [0, { ...header, version: 3 }, 'not a complete "session" record'],
  [0, { ...header, id: 5 }, 'not a complete "session" record'],
  [0, { ...header, createdAt: 5 }, 'not a complete "session" record'],
  [0, { ...header, createdAt: "noon" }, 'not a complete "session" record'],
  [0, { ...header, tags: [] }, 'not a complete "session" record'],
  [0, { ...header, tags: { team: 5 } }, 'not a complete "session" record'],
])("findRecordProblem() rejects record %i: %j", (n, record, problem) => {
  expect(findRecordProblem(record, n)).toContain(problem);
});
