import { expect, test } from "vitest";
import { Prompt } from "./prompt.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

class ProviderSection extends MarkdownSection {
  override get provider(): string {
    return "openai";
  }
}

const createSection = (key: string, more: object = {}) =>
  new MarkdownSection({ key, title: key.toUpperCase(), template: `Text of ${key}.`, ...more });
const createProviderSection = (key: string, more: object = {}) =>
  new ProviderSection({ key, title: key.toUpperCase(), template: `Text of ${key}.`, ...more });

test("a section works with any adapter unless its class names one", () => {
  expect(createSection("a").provider).toBeNull();
  expect(createProviderSection("a").provider).toBe("openai");
});

test("a rendered prompt lists the adapters of visible sections by path", () => {
  const off = createProviderSection("off", { enabled: () => false });
  const closed = createProviderSection("closed", { summary: "Closed.", visibility: "summary" });
  const open = createSection("open", { children: [createProviderSection("in"), off, closed] });
  const sections = [createProviderSection("top"), open, createSection("any")];
  const { providers } = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections })).render();
  expect([...providers]).toEqual([
    ["top", "openai"],
    ["open.in", "openai"],
  ]);
});

test("a rendered prompt lists no adapters if its sections work with any", () => {
  const template = new PromptTemplate({ ns: "demo", key: "k", sections: [createSection("a")] });
  expect(new Prompt(template).render().providers).toEqual(new Map());
});
