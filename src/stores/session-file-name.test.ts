import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SessionStoreError } from "../session/session-store.ts";
import { idOfFile, pathsOf } from "./session-file-name.ts";

const fileOf = (id: string) => basename(pathsOf("/sessions", id).file);
const ids = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30, unit: "binary" }),
  fc.stringMatching(/^[\w.:-]{1,128}$/),
  fc.stringMatching(/^[./\\:%~a-cA-C]{1,10}$/),
);

test.each([
  ["support-42", "support-42.jsonl"],
  ["a_b", "a_b.jsonl"],
  ["User:42", "%55ser%3a42.jsonl"],
  ["../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd.jsonl"],
  ["..", "%2e%2e.jsonl"],
  ["größe", "gr%c3%b6%c3%9fe.jsonl"],
  ["nul", "%6eul.jsonl"],
  ["\0", "%00.jsonl"],
  ["~1", "%7e1.jsonl"],
])("session %j is kept in %s", (id, file) => {
  expect(pathsOf("/sessions", id)).toEqual({
    id,
    file: join("/sessions", file),
    lock: join("/sessions", file.replace(".jsonl", ".lock")),
  });
  expect(idOfFile(file)).toBe(id);
});

test("any id has a file of its own, also where case does not count, and never elsewhere", () => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      expect(dirname(pathsOf("/sessions", one).file)).toBe("/sessions");
      expect(fileOf(one)).toMatch(/^[a-z0-9_%~-]{1,210}\.jsonl$/);
      expect(idOfFile(fileOf(one))).toBe(one);
      expect(fileOf(one).toLowerCase() === fileOf(other).toLowerCase()).toBe(one === other);
      expect(fileOf(one.toUpperCase()) === fileOf(one.toLowerCase())).toBe(
        one.toUpperCase() === one.toLowerCase(),
      );
    }),
  );
});

test("the longest ids that sessions may have fit into a file name", () => {
  for (const character of ["A", "z", ":", ".", "9"]) {
    const id = character.repeat(128);
    expect(fileOf(id).length).toBeLessThan(230);
    expect(idOfFile(fileOf(id))).toBe(id);
  }
});

describe("an id", () => {
  test.each([
    ["empty", ""],
    ["too long", "x".repeat(129)],
    ["too long in bytes", "ö".repeat(65)],
    ["half a character", "\ud800"],
    ["no text", 5 as never],
  ])("that is %s is refused", (_what, id) => {
    expect(() => pathsOf("/sessions", id)).toThrow(SessionStoreError);
    expect(() => pathsOf("/sessions", id)).toThrow(
      /^The id of a stored session must be 1-128 bytes of text, got .*. Give the session another id/,
    );
  });
});

test.each([
  "notes.txt",
  "s.lock",
  ".jsonl",
  "S.jsonl",
  "%41",
  "%4.jsonl",
  "%61.jsonl", // an a needs no escape
  "%ff.jsonl", // no UTF-8
  "~.jsonl",
  "~!.jsonl",
  "~1.jsonl",
  "~10.jsonl",
])("%s is no session's file", (file) => {
  expect(idOfFile(file)).toBeNull();
});

test("any name is a session's file or is not", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[~%0-9a-z]{0,9}\.jsonl$/)), (file) => {
      const id = idOfFile(file);
      if (id !== null) expect(fileOf(id)).toBe(file);
    }),
  );
});
