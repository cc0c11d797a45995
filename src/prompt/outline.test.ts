import { expect, test } from "vitest";
import { outlineOf } from "./outline.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";

const section = (key: string, children: readonly Section[] = []) =>
  new MarkdownSection({ key, title: key, template: "", children });

test("sections stand in reading order, each with its place", () => {
  const sections = [section("a"), section("b", [section("c", [section("d")]), section("e")])];
  const places = outlineOf(sections).map(({ path, number, depth }) => [path, number, depth]);
  expect(places).toEqual([
    ["a", "1", 0],
    ["b", "2", 0],
    ["b.c", "2.1", 1],
    ["b.c.d", "2.1.1", 2],
    ["b.e", "2.2", 1],
  ]);
});

test("a section knows its parent's place", () => {
  const [parent, child] = outlineOf([section("a", [section("b")])]);
  expect(parent?.parent).toBeNull();
  expect(child?.parent).toBe(parent);
});

test("one section may stand in two places", () => {
  const shared = section("shared");
  const outline = outlineOf([section("a", [shared]), section("b", [shared])]);
  expect(outline.filter((place) => place.section === shared).map(({ path }) => path)).toEqual([
    "a.shared",
    "b.shared",
  ]);
});

test("no sections make an empty outline", () => {
  expect(outlineOf([])).toEqual([]);
});
