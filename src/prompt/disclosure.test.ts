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

const promptOf = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "ship", sections }));
const whole = () => promptOf(task, operations, history).bind({ service: "owls" });

describe("a summarised section", () => {
  test("is its summary, with a note how to see more, and without children and tools", () => {
    const { text, tools } = whole().render();
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

  test("counts hosted tools among what it can be opened for, those of children too", () => {
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
    const { hostedTools, tools } = promptOf(parent).render();
    expect(hostedTools).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(["open_sections"]);
  });

  test("adds its own hosted and native tools to the prompt only after it is opened", () => {
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
    const prompt = promptOf(task, research);
    const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

    const closed = prompt.render({ session });
    expect(namesOf(closed.hostedTools)).toEqual([]);
    expect(namesOf(closed.nativeTools)).toEqual([]);
    expect(namesOf(closed.tools)).toEqual(["open_sections"]);

    session.dispatch({
      type: "VisibilityChanged",
      sessionId: session.id,
      promptName: prompt.name,
      path: "research",
      visibility: "full",
    });
    const opened = prompt.render({ session });
    expect(namesOf(opened.hostedTools)).toEqual(["web_search", "lookup"]);
    expect(namesOf(opened.nativeTools)).toEqual(["web_search", "lookup"]);
  });

  test("offers nothing to open where nothing is summarised", () => {
    expect(promptOf(task).render().tools).toEqual([]);
  });

  test("is chosen by a function of the params and the session", () => {
    const chosen = (visibility: Visibility) =>
      new MarkdownSection({
        key: "s",
        title: "S",
        template: "Long.",
        summary: "Short.",
        visibility: (_params, { session }) => (session.tags["mode"] === "x" ? "full" : visibility),
      });
    const session = new Session({ tags: { mode: "x" } });
    expect(promptOf(chosen("summary")).render().text).toContain("Short.");
    expect(promptOf(chosen("summary")).render({ session }).text).toContain("Long.");
  });
});

describe("a section cannot be", () => {
  const about = { key: "s", title: "S", template: "Long." };

  test.each([
    ["summarised without a summary", { visibility: "summary" }, "must have a summary"],
    ["chosen to be without a summary", { visibility: () => "full" }, "must have a summary"],
    ["shown otherwise", { visibility: "half" }, 'must be "full", "summary" or a function'],
    ["summarised by a field it lacks", { summary: "$topic" }, "must only name fields"],
    ["summarised by what is no text", { summary: 5 }, "must be text"],
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
      "its visibility failed: broken",
    ],
    ["says something else", () => "half", 'its visibility is "half"'],
  ])("rendered if its visibility %s", (_, visibility, message) => {
    const section = new MarkdownSection({
      ...about,
      summary: "Short.",
      visibility: visibility as never,
    });
    const work = () => promptOf(section).render();
    expect(work).toThrow(PromptRenderError);
    expect(work).toThrow(message);
  });
});

test("a section that chooses to be summarised by its own code needs a summary, too", () => {
  class Chooser extends MarkdownSection {
    override effectiveVisibility(): Visibility {
      return "summary";
    }
  }
  const work = () => promptOf(new Chooser({ key: "s", title: "S", template: "Long." })).render();
  expect(work).toThrow(PromptRenderError);
  expect(work).toThrow("it is to be summarised and has no summary: give it one");
});

const opening = (...keys: readonly string[]) => ({
  toolCalls: [{ name: "open_sections", arguments: { section_keys: keys, reason: "to ship" } }],
});

describe("open_sections", () => {
  test("shows sections in full, with their tools, from the next request on", async () => {
    const model = scriptedClient(
      { toolCalls: [{ name: "deploy" }] },
      opening("ops"),
      { toolCalls: [{ name: "deploy" }] },
      { text: "Done." },
    );
    const bus = recordingBus();
    const session = new Session({ bus });
    await model.evaluate(whole(), { session });
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

  test("keeps what it opened open for the next evaluation on the session, of that prompt", async () => {
    const session = new Session();
    await scriptedClient(opening("ops"), { text: "Done." }).evaluate(whole(), { session });
    expect(whole().render({ session }).text).toContain("Deploy with care.");
    const other = new Prompt(
      new PromptTemplate({ ns: "demo", key: "other", sections: [operations] }),
    ).bind({ service: "owls" });
    expect(other.render({ session }).text).toContain("How to deploy owls.");
  });

  test.each([
    [
      "a section that is not there",
      ["opps"],
      'There is no section "opps". Summarised are "ops", "history".',
    ],
    ["one that is open already", ["task"], "None of these sections is summarised."],
    ["nothing", [], "None of these sections is summarised."],
  ])("refuses %s", async (_, keys, message) => {
    const model = scriptedClient(opening(...keys), { text: "Done." });
    await model.evaluate(whole(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe(message);
  });

  test("skips those that are open already", async () => {
    const model = scriptedClient(opening("task", "ops"), { text: "Done." });
    await model.evaluate(whole(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe('Opened "ops": read the prompt again.');
  });
});

describe("read_section", () => {
  const reading = (key: string) => ({
    toolCalls: [{ name: "read_section", arguments: { section_key: key } }],
  });

  test("reads a section in full, once, and changes nothing", async () => {
    const model = scriptedClient(reading("history"), { text: "Done." });
    await model.evaluate(whole(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toBe("## 3. History (history)\n\nIt began in spring.");
    expect(model.asked[1]?.rendered.text).toContain("Where it comes from.");
  });

  test.each([
    ["a section that is not there", "histry", 'There is no section "histry".'],
    ["one that is shown in full", "task", '"task" is shown in full already.'],
  ])("refuses %s", async (_, key, message) => {
    const model = scriptedClient(reading(key), { text: "Done." });
    await model.evaluate(whole(), { session: new Session() });
    expect(model.asked[1]?.answers[0]?.text).toContain(message);
  });

  test("keeps summarised what is summarised below", () => {
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
    const [read] = promptOf(outer).render().tools;
    const result = read?.handler?.({ section_key: "outer" }, {} as never);
    expect(result).toMatchObject({ success: true, message: expect.stringContaining("Outside.") });
    expect(result).toMatchObject({ message: expect.stringContaining("Shallow.") });
  });
});

test("a program opens and closes sections by an event, and null gives the choice back", () => {
  const session = new Session().register(visibilitySlice);
  const prompt = whole();
  const change = (visibility: Visibility | null) =>
    session.dispatch({
      type: "VisibilityChanged",
      sessionId: session.id,
      promptName: prompt.name,
      path: "ops",
      visibility,
    });
  expect(prompt.render({ session }).text).toContain("How to deploy");
  change("full");
  expect(prompt.render({ session }).text).toContain("Deploy with care.");
  change(null);
  expect(prompt.render({ session }).text).toContain("How to deploy");
});
