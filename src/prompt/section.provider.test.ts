import { expect, test } from "vitest";
import { Prompt } from "./prompt.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

class Theirs extends MarkdownSection {
  override get provider(): string {
    return "openai";
  }
}

const section = (key: string, more: object = {}) =>
  new MarkdownSection({ key, title: key.toUpperCase(), template: `Text of ${key}.`, ...more });
const theirs = (key: string, more: object = {}) =>
  new Theirs({ key, title: key.toUpperCase(), template: `Text of ${key}.`, ...more });

test("a section is for any adapter unless its class says for which", () => {
  expect(section("a").provider).toBeNull();
  expect(theirs("a").provider).toBe("openai");
});

test("a rendered prompt has the adapters of the sections that are shown, by their paths", () => {
  const off = theirs("off", { enabled: () => false });
  const closed = theirs("closed", { summary: "Closed.", visibility: "summary" });
  const open = section("open", { children: [theirs("in"), off, closed] });
  const sections = [theirs("top"), open, section("any")];
  const { providers } = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections })).render();
  expect([...providers]).toEqual([
    ["top", "openai"],
    ["open.in", "openai"],
  ]);
});

test("a rendered prompt of sections for any adapter has none", () => {
  const template = new PromptTemplate({ ns: "demo", key: "k", sections: [section("a")] });
  expect(new Prompt(template).render().providers).toEqual(new Map());
});
