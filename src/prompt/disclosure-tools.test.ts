import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptRenderError, PromptValidationError } from "../base/errors.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Prompt } from "./prompt.ts";
import type { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";
import { type Visibility, visibilitySlice } from "./visibility.ts";

const deploy = new Tool({
  name: "deploy",
  description: "Deploys.",
  params: null,
  handler: () => ToolResult.ok(null, "deployed"),
});

const task = new MarkdownSection({ key: "task", title: "Task", template: "Ship it." });
const operations = new MarkdownSection({
  key: "ops",
  title: "Operations",
  template: "Deploy with care.",
  summary: "How to deploy $service.",
  visibility: "summary",
  params: z.object({ service: z.string() }),
  tools: [deploy],
  children: [new MarkdownSection({ key: "night", title: "At night", template: "Wake nobody." })],
});
const history = new MarkdownSection({
  key: "history",
  title: "History",
  template: "It began in spring.",
  summary: "Where it comes from.",
  visibility: "summary",
});

const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "ship", sections }));
const createWholePrompt = () => createPrompt(task, operations, history).bind({ service: "owls" });

describe("a summarized section", () => {
  test("shows its summary with a note on how to see more, without children and tools", () => {
    const { text, tools } = createWholePrompt().render();
    expect(text).toBe(
      [
        "## 1. Task (task)\n\nShip it.",
        "## 2. Operations (ops)\n\nHow to deploy owls.",
        `---\n[This is a summary: call open_sections with the key "ops" to see it in full and to use its tools. It contains "night".]`,
        "## 3. History (history)\n\nWhere it comes from.",
        `---\n[This is a summary: call read_section with the key "history" to read it in full.]`,
      ].join("\n\n"),
    );
    expect(tools.map(({ name }) => name)).toEqual(["open_sections", "read_section"]);
  });

  test("counts its own and its children's hosted tools when it offers open_sections", () => {
    const child = new MarkdownSection({
      key: "web",
      title: "Web",
      template: "",
      hostedTools: [webSearchTool()],
    });
    const parent = new MarkdownSection({
      key: "p",
      title: "P",
      template: "",
      summary: "More.",
      visibility: "summary",
      children: [child],
    });
    const { hostedTools, tools } = createPrompt(parent).render();
    expect(hostedTools).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(["open_sections"]);
  });

  test("adds its hosted and native tools only after it is opened", () => {
    const lookup = new NativeTool({
      name: "lookup",
      description: "Looks things up.",
      params: z.object({}),
      result: z.object({}),
    });
    const research = new MarkdownSection({
      key: "research",
      title: "Research",
      template: "Search first.",
      summary: "How to search.",
      visibility: "summary",
      tools: [lookup],
      hostedTools: [webSearchTool()],
    });
    const session = new Session().register(visibilitySlice);
    const prompt = createPrompt(task, research);
    const listToolNames = (tools: readonly { readonly name: string }[]) =>
      tools.map(({ name }) => name);

    const closed = prompt.render({ session });
    expect(listToolNames(closed.hostedTools)).toEqual([]);
    expect(listToolNames(closed.nativeTools)).toEqual([]);
    expect(listToolNames(closed.tools)).toEqual(["open_sections"]);

    session.dispatch({
      type: "VisibilityChanged",
      sessionId: session.id,
      promptName: prompt.name,
      path: "research",
      visibility: "full",
    });
    const opened = prompt.render({ session });
    expect(listToolNames(opened.hostedTools)).toEqual(["web_search", "lookup"]);
    expect(listToolNames(opened.nativeTools)).toEqual(["web_search", "lookup"]);
  });

  test("adds no disclosure tools if no section is summarized", () => {
    expect(createPrompt(task).render().tools).toEqual([]);
  });

  test("can be selected by a function of the params and the session", () => {
    const createChosen = (visibility: Visibility) =>
      new MarkdownSection({
        key: "s",
        title: "S",
        template: "Long.",
        summary: "Short.",
        visibility: (_params, { session }) => (session.tags["mode"] === "x" ? "full" : visibility),
      });
    const session = new Session({ tags: { mode: "x" } });
    expect(createPrompt(createChosen("summary")).render().text).toContain("Short.");
    expect(createPrompt(createChosen("summary")).render({ session }).text).toContain("Long.");
  });
});

describe("a section cannot be", () => {
  const about = { key: "s", title: "S", template: "Long." };

  test.each([
    [
      "summarized without a summary",
      { visibility: "summary" },
      'must be "full" for a section without a summary',
    ],
    [
      "selected by a function without a summary",
      { visibility: () => "full" },
      'must be "full" for a section without a summary',
    ],
    [
      "shown with another visibility",
      { visibility: "half" },
      'must be "full", "summary" or a function',
    ],
    [
      "summarized with a placeholder it does not declare",
      { summary: "$topic", params: z.object({}) },
      "must only use placeholders of the section's params",
    ],
    ["summarized by a value that is not a string", { summary: 5 }, "must be a string"],
  ])("%s", (_, options, message) => {
    const make = () => new MarkdownSection({ ...about, ...(options as object) });
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(message);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
      "its visibility() threw: broken",
    ],
    ["is another value", () => "half", 'its visibility must be "full" or "summary", got "half"'],
  ])("rendered if its visibility %s", (_, visibility, message) => {
    const section = new MarkdownSection({
      ...about,
      summary: "Short.",
      visibility: visibility as never,
    });
    const work = () => createPrompt(section).render();
    expect(work).toThrow(PromptRenderError);
    expect(work).toThrow(message);
  });
});

test("a section whose class overrides effectiveVisibility needs a summary too", () => {
  class Chooser extends MarkdownSection {
    override effectiveVisibility(): Visibility {
      return "summary";
    }
  }
  const work = () =>
    createPrompt(new Chooser({ key: "s", title: "S", template: "Long." })).render();
  expect(work).toThrow(PromptRenderError);
  expect(work).toThrow('its visibility is "summary", but it has no summary. Add one');
});

const openSections = (...keys: readonly string[]) => ({
  toolCalls: [{ name: "open_sections", arguments: { section_keys: keys, reason: "to ship" } }],
});

describe("open_sections", () => {
  test("shows sections in full, with their tools, from the next request on", async () => {
    const model = scriptedClient(
      { toolCalls: [{ name: "deploy" }] },
      openSections("ops"),
      { toolCalls: [{ name: "deploy" }] },
      { text: "Done." },
    );
    const bus = recordingBus();
    const session = new Session({ bus });
    await model.evaluate(createWholePrompt(), { session });
    const [first, second, third, fourth] = model.asked;
    expect(first?.rendered.text).toContain("How to deploy owls.");
    expect(second?.answers[0]?.text).toContain('There is no tool named "deploy"');
    expect(third?.answers[0]?.text).toBe('Opened "ops": read the prompt again.');
    expect(third?.rendered.text).toContain("Deploy with care.");
    expect(third?.rendered.text).toContain("### 2.1. At night (ops.night)");
    expect(third?.rendered.tools.map(({ name }) => name)).toEqual(["deploy", "read_section"]);
    expect(fourth?.answers[0]?.text).toBe("deployed");
    expect(bus.of("PromptRendered")).toHaveLength(2);
  });

  test("keeps sections open for the next evaluation of the same prompt on the session", async () => {
    const session = new Session();
    await scriptedClient(openSections("ops"), { text: "Done." }).evaluate(createWholePrompt(), {
      session,
    });
    expect(createWholePrompt().render({ session }).text).toContain("Deploy with care.");
    const other = new Prompt(
      new PromptTemplate({ ns: "demo", key: "other", sections: [operations] }),
    ).bind({ service: "owls" });
    expect(other.render({ session }).text).toContain("How to deploy owls.");
  });

  test.each([
    [
      "an unknown section",
      ["opps"],
      'Unknown section "opps". Summarized sections: "ops", "history".',
    ],
    ["a section that is already open", ["task"], "These sections are not summarized."],
    ["nothing", [], "These sections are not summarized."],
  ])("rejects %s", async (_, keys, message) => {
    const model = scriptedClient(openSections(...keys), { text: "Done." });
    await model.evaluate(createWholePrompt(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe(message);
  });

  test("skips sections that are already open", async () => {
    const model = scriptedClient(openSections("task", "ops"), { text: "Done." });
    await model.evaluate(createWholePrompt(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe('Opened "ops": read the prompt again.');
  });
});

describe("read_section", () => {
  const readSection = (key: string) => ({
    toolCalls: [{ name: "read_section", arguments: { section_key: key } }],
  });

  test("returns a section in full once, without changing its visibility", async () => {
    const model = scriptedClient(readSection("history"), { text: "Done." });
    await model.evaluate(createWholePrompt(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe("## 3. History (history)\n\nIt began in spring.");
    expect(model.asked[1]?.rendered.text).toContain("Where it comes from.");
  });

  test.each([
    ["an unknown section", "histry", 'Unknown section "histry".'],
    ["a section that is shown in full", "task", '"task" is already shown in full.'],
  ])("rejects %s", async (_, key, message) => {
    const model = scriptedClient(readSection(key), { text: "Done." });
    await model.evaluate(createWholePrompt(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toContain(message);
  });

  test("keeps nested summaries", () => {
    const inner = new MarkdownSection({
      key: "inner",
      title: "Inner",
      template: "Deep.",
      summary: "Shallow.",
      visibility: "summary",
    });
    const outer = new MarkdownSection({
      key: "outer",
      title: "Outer",
      template: "Outside.",
      summary: "Short.",
      visibility: "summary",
      children: [inner],
    });
    const [read] = createPrompt(outer).render().tools;
    const result = read?.handler?.({ section_key: "outer" }, {} as never);
    expect(result).toMatchObject({ success: true, message: expect.stringContaining("Outside.") });
    expect(result).toMatchObject({ message: expect.stringContaining("Shallow.") });
  });
});

test("a VisibilityChanged event opens and closes sections, and null restores the default", () => {
  const session = new Session().register(visibilitySlice);
  const prompt = createWholePrompt();
  const changeVisibility = (visibility: Visibility | null) =>
    session.dispatch({
      type: "VisibilityChanged",
      sessionId: session.id,
      promptName: prompt.name,
      path: "ops",
      visibility,
    });
  expect(prompt.render({ session }).text).toContain("How to deploy");
  changeVisibility("full");
  expect(prompt.render({ session }).text).toContain("Deploy with care.");
  changeVisibility(null);
  expect(prompt.render({ session }).text).toContain("How to deploy");
});
