import { describe, expect, test } from "vitest";
import {
  MAX_JSON_KEYS,
  MAX_JSON_VALUES,
  MAX_OBJECT_KEYS,
  parseBoundedJson,
} from "./parse-bounded-json.ts";

const nest = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const createObject = (keys: number) =>
  `{${Array.from({ length: keys }, (_, place) => `"k${place}":1`).join()}}`;

describe("parseBoundedJson()", () => {
  test("parses short and long texts like JSON.parse", () => {
    expect(parseBoundedJson('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
    const value = { a: ['"{[,:\\', "\\\\", { "b:,[": "x".repeat(2000) }], 'c"': "é\n" };
    expect(parseBoundedJson(JSON.stringify(value))).toEqual({ ok: true, value });
    expect(parseBoundedJson("{").ok).toBe(false);
    expect(parseBoundedJson(`"${"x".repeat(2000)}`).ok).toBe(false);
    expect(parseBoundedJson(`"${"\\".repeat(2001)}"`).ok).toBe(false);
    expect(parseBoundedJson("]".repeat(2000)).ok).toBe(false);
  });

  test("accepts as many levels, keys and values as the limits, and no more", () => {
    expect(parseBoundedJson(nest(1000)).ok).toBe(true);
    expect(parseBoundedJson(nest(1001))).toMatchObject({
      problem: "It is nested more than 1000 levels deep.",
    });
    expect(parseBoundedJson(createObject(MAX_OBJECT_KEYS)).ok).toBe(true);
    expect(parseBoundedJson(createObject(MAX_OBJECT_KEYS + 1))).toMatchObject({
      problem: "An object has more than 10000 keys.",
    });
    const some = createObject(MAX_OBJECT_KEYS / 2);
    const count = MAX_JSON_KEYS / (MAX_OBJECT_KEYS / 2);
    expect(parseBoundedJson(`[${Array(count).fill(some).join()}]`).ok).toBe(true);
    expect(parseBoundedJson(`[${Array(count).fill(some).join()},{"a":1}]`)).toMatchObject({
      problem: "It has more than 300000 keys.",
    });
    expect(parseBoundedJson(`[${"0,".repeat(MAX_JSON_VALUES - 1)}0]`).ok).toBe(true);
    expect(parseBoundedJson(`[${"0,".repeat(MAX_JSON_VALUES)}0]`)).toMatchObject({
      problem: "It has more than 1000000 values.",
    });
  });

  test("counts keys per object: many small objects after each other are fine", () => {
    const list = Array(20_000).fill({ a: 1, b: { c: 2 } });
    expect(parseBoundedJson(JSON.stringify(list)).ok).toBe(true);
  });
});
