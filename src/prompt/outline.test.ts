import { expect, test } from "vitest";
import { createOutline } from "./outline.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";

const createSection = (key: string, children: readonly Section[] = []) =>
  new MarkdownSection({ key, title: key, template: "", children });

test("createOutline() lists sections in reading order with their places", () => {
  const sections = [
    createSection("a"),
    createSection("b", [createSection("c", [createSection("d")]), createSection("e")]),
  ];
  const places = createOutline(sections).map(({ path, number, depth }) => [path, number, depth]);
  expect(places).toEqual([
    ["a", "1", 0],
    ["b", "2", 0],
    ["b.c", "2.1", 1],
    ["b.c.d", "2.1.1", 2],
    ["b.e", "2.2", 1],
  ]);
});

test("createOutline() links each section to its parent", () => {
  const [parent, child] = createOutline([createSection("a", [createSection("b")])]);
  expect(parent?.parent).toBeNull();
  expect(child?.parent).toBe(parent);
});

test("createOutline() accepts one section in two places", () => {
  const shared = createSection("shared");
  const outline = createOutline([createSection("a", [shared]), createSection("b", [shared])]);
  expect(outline.filter((place) => place.section === shared).map(({ path }) => path)).toEqual([
    "a.shared",
    "b.shared",
  ]);
});

test("createOutline() returns an empty outline for no sections", () => {
  expect(createOutline([])).toEqual([]);
});
