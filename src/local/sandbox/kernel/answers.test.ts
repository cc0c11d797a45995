import { describe, expect, test } from "vitest";
import { readAnswer, readEnding } from "./answers.ts";

const PNG = "iVBORw0KGgo=";

describe("an answer from inside", () => {
  test("is an error or none, and pictures", () => {
    expect(readAnswer(json({ error: null, images: [PNG] }))).toEqual({
      error: null,
      images: [{ mediaType: "image/png", base64: PNG }],
    });
    expect(readAnswer(json({ error: "E", images: [] }))).toEqual({ error: "E", images: [] });
  });

  test("is cut where an error is endless", () => {
    expect(readAnswer(json({ error: "x".repeat(200_000), images: [] }))?.error).toHaveLength(
      100_000,
    );
  });

  test.each([
    null,
    7,
    [],
    {},
    { error: null },
    { images: [] },
    { error: 1, images: [] },
    { error: null, images: {} },
    { error: null, images: [7] },
    { error: null, images: ["PHN2Zz4="] },
    { error: null, images: [`${PNG}<script>`] },
    { error: null, images: Array.from({ length: 21 }, () => PNG) },
  ])("is none if it is %j", (value) => {
    expect(readAnswer(json(value))).toBeNull();
  });

  test("is none if it is not JSON", () => {
    expect(readAnswer(Buffer.from("{"))).toBeNull();
    expect(readAnswer(Buffer.from([0xff, 0xfe]))).toBeNull();
  });
});

describe("an ending", () => {
  test("is an exit or an exceeded limit", () => {
    expect(readEnding(json({ code: -9 }))).toEqual({ kind: "exit", code: -9 });
    expect(readEnding(json({ violation: "disk" }))).toEqual({ kind: "violation", limit: "disk" });
  });

  test.each([null, {}, { code: "0" }, { code: 0.5 }, { violation: "other" }, { violation: 1 }])(
    "is none if it is %j",
    (value) => {
      expect(readEnding(json(value))).toBeNull();
    },
  );
});

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
