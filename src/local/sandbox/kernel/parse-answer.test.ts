import { describe, expect, test } from "vitest";
import { parseAnswer, parseEnding } from "./parse-answer.ts";

const PNG = "iVBORw0KGgo=";

describe("parseAnswer()", () => {
  test("returns the error, if any, and the images", () => {
    expect(parseAnswer(toJsonBytes({ error: null, images: [PNG] }))).toEqual({
      error: null,
      images: [{ mediaType: "image/png", base64: PNG }],
      order: [],
    });
    expect(parseAnswer(toJsonBytes({ error: "E", images: [], order: [0, 3, 9] }))).toEqual({
      error: "E",
      images: [],
      order: [0, 3, 9],
    });
  });

  test("truncates an overlong error", () => {
    expect(
      parseAnswer(toJsonBytes({ error: "x".repeat(200_000), images: [] }))?.error,
    ).toHaveLength(100_000);
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
    { error: null, images: [], order: {} },
    { error: null, images: [], order: [-1] },
    { error: null, images: [], order: [0.5] },
    { error: null, images: [], order: ["1"] },
    { error: null, images: [], order: Array.from({ length: 10_001 }, () => 1) },
  ])("rejects %j", (value) => {
    expect(parseAnswer(toJsonBytes(value))).toBeNull();
  });

  test("rejects input that is not JSON", () => {
    expect(parseAnswer(Buffer.from("{"))).toBeNull();
    expect(parseAnswer(Buffer.from([0xff, 0xfe]))).toBeNull();
  });
});

describe("parseEnding()", () => {
  test("returns an exit code or an exceeded limit", () => {
    expect(parseEnding(toJsonBytes({ code: -9 }))).toEqual({ kind: "exit", code: -9 });
    expect(parseEnding(toJsonBytes({ violation: "disk" }))).toEqual({
      kind: "violation",
      limit: "disk",
      idle: false,
    });
    expect(parseEnding(toJsonBytes({ violation: "idle", idle: true }))).toMatchObject({
      idle: true,
    });
  });

  test.each([null, {}, { code: "0" }, { code: 0.5 }, { violation: "other" }, { violation: 1 }])(
    "rejects %j",
    (value) => {
      expect(parseEnding(toJsonBytes(value))).toBeNull();
    },
  );
});

function toJsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
