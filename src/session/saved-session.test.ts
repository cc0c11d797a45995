import { describe, expect, test } from "vitest";
import { WinkError } from "../base/errors.ts";
import { parseSession, type SavedSession, serializeSession } from "./saved-session.ts";
import { SnapshotError, SnapshotRestoreError } from "./snapshot-errors.ts";

const saved: SavedSession = {
  version: 1,
  id: "s-1",
  createdAt: "2030-01-01T12:00:00.000Z",
  tags: { team: "search" },
  slices: { orders: [{ total: 1 }], note: null },
};

test("parseSession() restores what serializeSession() serialized", () => {
  expect(parseSession(serializeSession(saved))).toEqual(saved);
});

describe("serializeSession()", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  test.each([
    ["a date", { at: new Date(0) }, "value.at is a Date"],
    ["a map", new Map(), "value is a Map"],
    ["not a number", [Number.NaN], "value.0 is NaN"],
    ["a cycle", cycle, "value.self contains itself"],
    ["a bigint", 1n, "value is 1"],
    ["too much nesting", nest(2000), "value is nested more than 1000 levels deep"],
  ])(
    "rejects state that JSON cannot represent, naming slice, path and remedy: %s",
    (_what, state, problem) => {
      const write = () => serializeSession({ ...saved, slices: { fine: 1, orders: state } });
      expect(write).toThrow(SnapshotError);
      expect(write).toThrow(
        `Slice "orders" cannot be serialized: ${problem}. Use only plain objects`,
      );
    },
  );
});

describe("parseSession()", () => {
  test.each(["", "{", "hello", undefined as never])(
    "rejects text that is not JSON, with the parser's reason: %j",
    (text) => {
      expect(() => parseSession(text)).toThrow(SnapshotRestoreError);
      expect(() => parseSession(text)).toThrow(/^The text is not a serialized session: .*JSON/);
    },
  );

  test.each(["null", "1", "[]", "{}", '{"version":2}', '{"version":"1"}'])(
    "rejects a missing or different version: %s",
    (text) => {
      expect(() => parseSession(text)).toThrow(
        "The text is not a serialized session of version 1. Pass the text that session.serialize() returned.",
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
  ])("rejects an invalid %s: %j", (field, value) => {
    const text = JSON.stringify({ ...saved, [field]: value });
    expect(() => parseSession(text)).toThrow(SnapshotRestoreError);
    expect(() => parseSession(text)).toThrow(
      "has a missing or invalid id, createdAt, tags or slices",
    );
  });
});

test("SnapshotError and SnapshotRestoreError extend WinkError and have distinct names", () => {
  const errors = [new SnapshotError("a"), new SnapshotRestoreError("b")];
  expect(errors.every((error) => error instanceof WinkError)).toBe(true);
  expect(errors.map(({ name }) => name)).toEqual(["SnapshotError", "SnapshotRestoreError"]);
});

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
