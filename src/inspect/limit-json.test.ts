import { expect, test } from "vitest";
import { limitJson } from "./limit-json.ts";
import { escapeInvisible, previewFields, previewValue, toPreview } from "./model/preview.ts";

test("limitJson() copies small values unchanged", () => {
  const value = { a: [1, "two", null, true], b: { c: {} } };
  expect(limitJson(value)).toEqual(value);
  expect(limitJson(undefined)).toBeNull();
});

test("limitJson() shortens texts, lists, objects and depth", () => {
  const text = limitJson("x".repeat(300_000));
  expect(text).toMatch(/x⟨100000 more characters⟩$/);
  const list = limitJson(Array.from({ length: 30_000 }, () => 1)) as unknown[];
  expect(list.length).toBeLessThan(20_002);
  expect(list.at(-1)).toMatch(/^⟨\d+ more⟩$/);
  const fields = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n]));
  expect(Object.keys(limitJson(fields) as object).at(-1)).toBe("⟨more fields⟩");
  const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`);
  expect(JSON.stringify(limitJson(deep))).toContain("nested too deeply");
  const many = limitJson(Array.from({ length: 40 }, () => "y".repeat(200_000)));
  expect(JSON.stringify(many).length).toBeLessThan(5_000_000);
});

test("limitJson() keeps hostile keys as plain fields", () => {
  const copy = limitJson(JSON.parse('{"__proto__": {"polluted": 1}}'));
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1}}');
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test("previews are one line without invisible characters, and never split a character", () => {
  expect(toPreview(" a\n\tb  c ")).toBe("a b c");
  expect(toPreview("a\u202eb\u0000")).toBe("a\\u{202e}b\\u{0}");
  expect(toPreview("😀".repeat(200), 10)).toMatch(/^(?:😀)+…$/u);
  expect(previewValue({ a: [1, { b: "c" }], d: null })).toBe('{ a: [1, { b: "c" }], d: null }');
  expect(previewValue({ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } })).toContain("…");
  expect(previewFields({ a: "b", c: 1 })).toBe('a: "b", c: 1');
  expect(previewFields("text")).toBe("text");
  expect(previewFields({ a: "x".repeat(1e6), b: 1 }).length).toBeLessThanOrEqual(240);
  expect(previewValue(Array.from({ length: 1e6 }, () => "xy")).length).toBeLessThanOrEqual(240);
});

test("escapeInvisible() keeps line breaks, tabs and joiners", () => {
  expect(escapeInvisible("a\n\tb\u200d\u200c")).toBe("a\n\tb\u200d\u200c");
  expect(escapeInvisible("\u200b\u2028\ufeff\u{e0041}")).toBe(
    "\\u{200b}\\u{2028}\\u{feff}\\u{e0041}",
  );
});
