import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SessionStoreError } from "../session/session-store.ts";
import { getSessionPaths, parseFileName } from "./session-file-name.ts";

const getFileName = (id: string) => basename(getSessionPaths("/sessions", id).file);
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
])("getSessionPaths() stores session %j in %s", (id, file) => {
  expect(getSessionPaths("/sessions", id)).toEqual({
    id,
    file: join("/sessions", file),
    lock: join("/sessions", file.replace(".jsonl", ".lock")),
    claim: join("/sessions", file.replace(".jsonl", ".claim")),
    checkpoint: join("/sessions", file.replace(".jsonl", ".checkpoint")),
    newCheckpoint: join("/sessions", file.replace(".jsonl", ".checkpoint.new")),
  });
  expect(parseFileName(file)).toBe(id);
});

test("getSessionPaths() maps each id to a unique file in the directory, even if case is ignored", () => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      expect(dirname(getSessionPaths("/sessions", one).file)).toBe("/sessions");
      expect(getFileName(one)).toMatch(/^[a-z0-9_%~-]{1,210}\.jsonl$/);
      expect(parseFileName(getFileName(one))).toBe(one);
      expect(getFileName(one).toLowerCase() === getFileName(other).toLowerCase()).toBe(
        one === other,
      );
      expect(getFileName(one.toUpperCase()) === getFileName(one.toLowerCase())).toBe(
        one.toUpperCase() === one.toLowerCase(),
      );
    }),
  );
});

test("getSessionPaths() creates a valid file name for the longest ids", () => {
  for (const character of ["A", "z", ":", ".", "9"]) {
    const id = character.repeat(128);
    expect(getFileName(id).length).toBeLessThan(230);
    expect(parseFileName(getFileName(id))).toBe(id);
  }
});

describe("getSessionPaths()", () => {
  test.each([
    ["empty", ""],
    ["too long", "x".repeat(129)],
    ["too long in bytes", "ö".repeat(65)],
    ["half a character", "\ud800"],
    ["not a string", 5 as never],
  ])("rejects an id that is %s", (_what, id) => {
    expect(() => getSessionPaths("/sessions", id)).toThrow(SessionStoreError);
    expect(() => getSessionPaths("/sessions", id)).toThrow(
      /^The id of a stored session must be a string of 1-128 bytes, got .*\. Use a different session id\.$/,
    );
  });
});

test.each([
  "notes.txt",
  "s.lock",
  "s.claim",
  "s.checkpoint",
  ".jsonl",
  "S.jsonl",
  "%41",
  "%4.jsonl",
  "%61.jsonl", // "a" is never escaped
  "%ff.jsonl", // not UTF-8
  "~.jsonl",
  "~!.jsonl",
  "~1.jsonl",
  "~10.jsonl",
])("parseFileName() returns null for %s", (file) => {
  expect(parseFileName(file)).toBeNull();
});

test("parseFileName() only returns ids that map back to the file", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[~%0-9a-z]{0,9}\.jsonl$/)), (file) => {
      const id = parseFileName(file);
      if (id !== null) expect(getFileName(id)).toBe(file);
    }),
  );
});
