import { expect, test } from "vitest";
import { recordProblem } from "./session-record.ts";

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
];

test.each(whole.map((record, n) => [n, record] as const))("record %i fits: %j", (n, record) => {
  expect(recordProblem(record, n)).toBeNull();
});

test.each<readonly [number, unknown, string]>([
  [0, null, "it is null"],
  [0, [], "it is []"],
  [0, {}, "it has the number undefined"],
  [1, header, "it has the number 0"],
  [1, { ...header, n: 1 }, 'it is of the kind "session"'],
  [0, { n: 0, kind: "slice" }, 'it is of the kind "slice"'],
  [1, { n: 1, kind: "toString" }, 'it is of the kind "toString"'],
  [1, { n: 1, kind: 5 }, "it is of the kind 5"],
  [1, { n: 1, kind: "slice", id: "till" }, 'it is not a whole record of the kind "slice"'],
  [1, { n: 1, kind: "slice", policy: "log" }, "not a whole record"],
  [1, { n: 1, kind: "event" }, "not a whole record"],
  [1, { n: 1, kind: "event", event: {} }, "not a whole record"],
  [1, { n: 1, kind: "event", event: { type: "A" }, failed: "x" }, "not a whole record"],
  [1, { n: 1, kind: "event", event: { type: "A" }, failed: [1] }, "not a whole record"],
  [1, { n: 1, kind: "restored" }, "not a whole record"],
  [1, { n: 1, kind: "restored", to: 0 }, "not a whole record"],
  [1, { n: 1, kind: "restored", to: 2 }, "not a whole record"],
  [1, { n: 1, kind: "restored", to: 0.5 }, "not a whole record"],
  [1, { n: 1, kind: "loaded", states: [] }, "not a whole record"],
  [0, { ...header, version: 2 }, "not a whole record"],
  [0, { ...header, id: 5 }, "not a whole record"],
  [0, { ...header, createdAt: 5 }, "not a whole record"],
  [0, { ...header, createdAt: "noon" }, "not a whole record"],
  [0, { ...header, tags: [] }, "not a whole record"],
  [0, { ...header, tags: { team: 5 } }, "not a whole record"],
])("record %i does not fit: %j", (n, record, problem) => {
  expect(recordProblem(record, n)).toContain(problem);
});
