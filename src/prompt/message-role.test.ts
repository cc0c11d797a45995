import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { Session } from "../session/session.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { LocalOverridesStore } from "./overrides/local-overrides-store.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { VfsToolsSection } from "./sections/vfs-tools-section.ts";
import { WebSearchSection } from "./sections/web-search-section.ts";
import { PromptTemplate } from "./template.ts";
import { visibilitySlice } from "./visibility.ts";

const rules = new MarkdownSection({ key: "rules", title: "Rules", template: "Be brief." });
const limits = new MarkdownSection({ key: "limits", title: "Limits", template: "Ten words." });
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Sort $what.",
  params: z.object({ what: z.string() }),
  defaultParams: { what: "owls" },
  role: "user",
  children: [limits],
});
const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "roles", sections }));
const rulesText = "## 1. Rules (rules)\n\nBe brief.";
const taskText = "## 2. Task (task)\n\nSort owls.\n\n### 2.1. Limits (task.limits)\n\nTen words.";

describe("the messages of a rendered prompt", () => {
  test("have one role each, the system's first, and children have the role of their parent", () => {
    const { messages, text } = createPrompt(rules, task).render();
    expect(messages).toEqual([
      { role: "system", text: rulesText },
      { role: "user", text: taskText },
    ]);
    expect(text).toBe(`${rulesText}\n\n${taskText}`);
    expect([messages, ...messages].every(Object.isFrozen)).toBe(true);
  });

  test("put the system's text first, wherever the sections are", () => {
    const last = new MarkdownSection({ key: "last", title: "Last", template: "Cite." });
    const { messages, text } = createPrompt(task, last).render();
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[0]?.text).toBe("## 2. Last (last)\n\nCite.");
    expect(text).toBe(messages.map((message) => message.text).join("\n\n"));
  });

  test("leave out a role without text", () => {
    const hidden = new MarkdownSection({ key: "h", title: "H", template: "", role: "user" });
    expect(createPrompt(rules, hidden).render().messages).toEqual([
      { role: "system", text: rulesText },
    ]);
    expect(
      createPrompt(task)
        .render()
        .messages.map(({ role }) => role),
    ).toEqual(["user"]);
  });

  test("are one empty system message for a prompt without text", () => {
    const empty = new MarkdownSection({ key: "e", title: "E", template: "", role: "user" });
    const { messages, text } = createPrompt(empty).render();
    expect(messages).toEqual([{ role: "system", text: "" }]);
    expect(text).toBe("");
  });
});

describe("the role of a section", () => {
  test("is null unless it is set", () => {
    expect([rules.role, task.role]).toEqual([null, "user"]);
  });

  test.each(["assistant", "", null, 1])("cannot be %j", (role) => {
    const create = () =>
      new MarkdownSection({ key: "a", title: "A", template: "", role: role as never });
    expect(create).toThrow(PromptValidationError);
    expect(create).toThrow('Section "a" role must be "system" or "user", got');
  });

  test.each(["system", "user"] as const)("cannot be set to %j on a child", (role) => {
    const child = new MarkdownSection({ key: "child", title: "Child", template: "", role });
    const top = new MarkdownSection({ key: "top", title: "Top", template: "", children: [child] });
    expect(() => createPrompt(top)).toThrow(
      `Template "demo:roles" section "top.child" role must be omitted in a section below another, ` +
        `which has its parent's role, got "${role}". Set the role of the top-level section`,
    );
  });

  test("is kept by clone(), which can change it", () => {
    expect(task.clone().role).toBe("user");
    expect(task.clone({ role: "system" }).role).toBe("system");
    expect(createPrompt(task.clone({ key: "copy" })).render().messages).toMatchObject([
      { role: "user", text: expect.stringContaining("### 1.1. Limits (copy.limits)") },
    ]);
  });

  test("can be set by sections of any class", () => {
    class Quote extends Section {
      constructor() {
        super({ key: "quote", title: "Quote", role: "user" });
      }
      override render(): string {
        return "> Hoot.";
      }
    }
    expect(createPrompt(new Quote()).render().messages).toEqual([
      { role: "user", text: "## 1. Quote (quote)\n\n> Hoot." },
    ]);
  });

  test("is system for the sections that explain tools", () => {
    const files = new VfsToolsSection({ filesystem: new InMemoryFilesystem() });
    const { messages } = createPrompt(new WebSearchSection(), files, task).render();
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[1]?.text).not.toMatch(/Web Search|Files/);
  });
});

test("a user section can be a summary, which the session opens", () => {
  const tool = new Tool({
    name: "peek",
    description: "Peeks.",
    params: null,
    handler: () => ToolResult.ok(null),
  });
  const closed = new MarkdownSection({
    ...{ key: "more", title: "More", template: "By size.", tools: [tool], role: "user" },
    summary: "How to sort.",
    visibility: "summary",
  });
  const session = new Session().register(visibilitySlice);
  const prompt = createPrompt(rules, closed);
  const before = prompt.render({ session });
  expect(before.messages[1]).toMatchObject({
    role: "user",
    text: expect.stringContaining("How to sort."),
  });
  expect(before.tools.map(({ name }) => name)).toEqual(["open_sections"]);
  session.dispatch({
    type: "VisibilityChanged",
    sessionId: session.id,
    promptName: prompt.name,
    path: "more",
    visibility: "full",
  });
  const after = prompt.render({ session });
  expect(after.messages).toEqual([
    { role: "system", text: rulesText },
    { role: "user", text: "## 2. More (more)\n\nBy size." },
  ]);
  expect(after.tools.map(({ name }) => name)).toEqual(["peek"]);
});

test("an override replaces the text of a user section and keeps its role", async () => {
  const store = new LocalOverridesStore(new InMemoryFilesystem());
  const template = new PromptTemplate({ ns: "demo", key: "roles", sections: [rules, task] });
  const { contentHash = "" } =
    template.descriptor.sections.find(({ path }) => path === "task") ?? {};
  await store.save(template.descriptor, "latest", {
    sections: { task: { expectedHash: contentHash, body: "Rank $what." } },
  });
  const prompt = await new Prompt(template, { overrides: store }).loadOverrides();
  expect(prompt.skippedOverrides).toEqual([]);
  expect(prompt.render().messages).toMatchObject([
    { role: "system", text: rulesText },
    { role: "user", text: expect.stringContaining("## 2. Task (task)\n\nRank owls.") },
  ]);
});
