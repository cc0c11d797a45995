import { describe, expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import {
  type SavedSession,
  SnapshotError,
  SnapshotRestoreError,
  savedSession,
  sessionText,
} from "./snapshot.ts";

const saved: SavedSession = {
  version: 1,
  id: "s-1",
  createdAt: "2030-01-01T12:00:00.000Z",
  tags: { team: "search" },
  slices: { orders: [{ total: 1 }], note: null },
};

test("a session's text reads back as it was written", () => {
  expect(savedSession(sessionText(saved))).toEqual(saved);
});

describe("state that JSON cannot hold", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  test.each([
    ["a date", { at: new Date(0) }, "value.at is a Date"],
    ["a map", new Map(), "value is a Map"],
    ["not a number", [Number.NaN], "value.0 is NaN"],
    ["a cycle", cycle, "value.self contains itself"],
    ["a bigint", 1n, "value is 1"],
    ["too deep a nest", nested(2000), "value is nested more than 1000 levels deep"],
  ])("is refused, naming slice, place and remedy: %s", (_what, state, problem) => {
    const write = () => sessionText({ ...saved, slices: { fine: 1, orders: state } });
    expect(write).toThrow(SnapshotError);
    expect(write).toThrow(
      `Slice "orders" cannot be written as text, its ${problem}: keep slices to plain objects`,
    );
  });
});

describe("text that is no session's", () => {
  test.each(["", "{", "hello", undefined as never])(
    "is refused with the parser's reason: %j",
    (text) => {
      expect(() => savedSession(text)).toThrow(SnapshotRestoreError);
      expect(() => savedSession(text)).toThrow(/^The text is not a session's: .*JSON/);
    },
  );

  test.each(["null", "1", "[]", "{}", '{"version":2}', '{"version":"1"}'])(
    "is refused for its version: %s",
    (text) => {
      expect(() => savedSession(text)).toThrow(
        "The text is not a session's: give what session.serialize() returned (version 1)",
      );
    },
  );

  test.each([
    ["id", undefined],
    ["id", 5],
    ["createdAt", undefined],
    ["createdAt", "yesterday"],
    ["tags", undefined],
    ["tags", []],
    ["tags", { team: 5 }],
    ["slices", undefined],
    ["slices", []],
  ])("is refused for its %s of %j", (field, value) => {
    const text = JSON.stringify({ ...saved, [field]: value });
    expect(() => savedSession(text)).toThrow(SnapshotRestoreError);
    expect(() => savedSession(text)).toThrow("lacks its id, createdAt, tags or slices");
  });
});

test("both errors are the package's own, and told apart by name", () => {
  const errors = [new SnapshotError("a"), new SnapshotRestoreError("b")];
  expect(errors.every((error) => error instanceof WinkError)).toBe(true);
  expect(errors.map(({ name }) => name)).toEqual(["SnapshotError", "SnapshotRestoreError"]);
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
