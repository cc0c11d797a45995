import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../../base/errors.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { OpenAIApplyPatchSection } from "./apply-patch-section.ts";
import { OpenAICodeInterpreterSection } from "./code-interpreter-section.ts";
import { OpenAIFileSearchSection } from "./file-search-section.ts";
import { mergeOptions, NativeToolSection } from "./native-tool-section.ts";
import { OpenAIShellSection } from "./shell-section.ts";
import { OpenAIWebSearchSection } from "./web-search-section.ts";

const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

const kinds = [
  ["openai_file_search", OpenAIFileSearchSection, "File search", "file_search"],
  ["openai_web_search", OpenAIWebSearchSection, "Web search", "web_search"],
  ["openai_code_interpreter", OpenAICodeInterpreterSection, "Code interpreter", "code_interpreter"],
  ["openai_shell", OpenAIShellSection, "Shell", "shell"],
  ["openai_apply_patch", OpenAIApplyPatchSection, "Apply patch", "apply_patch"],
] as const;

describe.each(kinds)("the section %s", (key, Native, title, kind) => {
  test("has no text and one tool, named after its kind", () => {
    const section = new Native();
    expect(section).toMatchObject({ key, title, acceptsOverrides: false, children: [] });
    expect(section.render()).toBe("");
    expect(section.tools()).toEqual([]);
    expect(section.hostedTools()).toEqual([section.tool]);
    expect(section.tool).toBeInstanceOf(HostedTool);
    expect(section.tool).toMatchObject({ kind, name: kind });
    expect(Object.isFrozen(section.defaultParams)).toBe(true);
  });

  test("adds only its tool to a prompt", () => {
    const rendered = createPrompt(new Native()).render();
    expect(rendered.text).toBe("");
    expect(rendered.tools).toEqual([]);
    expect(rendered.hostedTools).toMatchObject([{ kind, name: kind }]);
    expect(rendered.nativeTools).toMatchObject([{ type: "built_in", name: kind, kind }]);
    expect(rendered.descriptor).toMatchObject({ sections: [], tools: [] });
  });

  test("accepts another key and retains it in clones", () => {
    const section = new Native({ key: "mine" });
    expect([section.key, section.clone().key, section.clone({ key: "yours" }).key]).toEqual([
      "mine",
      "mine",
      "yours",
    ]);
    const clone = section.clone({ key: undefined });
    expect(clone).toBeInstanceOf(Native);
    expect(clone).not.toBe(section);
    expect(clone.key).toBe("mine");
    expect(clone.defaultParams).toEqual(section.defaultParams);
  });

  test("is omitted if enabled returns false, also in clones", () => {
    const session = new Session();
    const seen: unknown[] = [];
    const section = new Native({
      enabled: (params, context) => {
        seen.push(params, context.session);
        return false;
      },
    });
    for (const one of [section, section.clone(), section.clone({ key: "k" })]) {
      expect(createPrompt(one).render({ session }).hostedTools).toEqual([]);
    }
    expect(seen).toEqual([{}, session, {}, session, {}, session]);
    const shown = section.clone({ enabled: () => true });
    expect(createPrompt(shown).render({ session }).hostedTools).toHaveLength(1);
  });

  test("rejects a model that does not support the tool", () => {
    const nativeTools = { small: ["mcp"] };
    const make = () => new Native({ model: "small-1", nativeTools });
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      `Section "${key}" model must be a model that can run "${kind}", got "small-1". ` +
        `The model "small-1" (listed as "small") supports "mcp", not "${kind}": use another model`,
    );
  });

  test("accepts a model that supports the tool, and an unknown model", () => {
    for (const model of ["gpt-5", "gpt-5.2-codex", "my-own"]) {
      expect(new Native({ model }).key).toBe(key);
    }
  });

  test("retains its model in clones and checks it again", () => {
    const section = new Native({ model: "gpt-5" });
    expect(section.clone().key).toBe(key);
    expect(() => section.clone({ nativeTools: { "gpt-5": [] } })).toThrow("model must be");
    function* yieldOnce() {
      yield kind;
    }
    const listed = new Native({ model: "small", nativeTools: { small: yieldOnce() } });
    expect(listed.clone().clone().key).toBe(key);
    expect(listed.nativeTools).toEqual({ small: [kind] });
    expect(() => listed.clone({ nativeTools: { small: [] } })).toThrow("supports no hosted tools");
  });

  test.each([
    [{ key: "No Key" }, `${Native.name}.key`],
    [{ key: 5 }, `${Native.name}.key`],
    [{ model: "" }, `Section "${key}" model`],
    [{ model: 5 }, `Section "${key}" model`],
    [{ model: null }, `Section "${key}" model`],
    [{ enabled: true }, `Section "${key}" enabled`],
    [{ nativeTools: [] }, `Section "${key}" nativeTools`],
    [{ nativeTools: { "gpt-5": "shell" } }, `Section "${key}" nativeTools["gpt-5"]`],
    [null, `${Native.name}(options)`],
    ["key", `${Native.name}(options)`],
  ])("rejects the options %o", (options, field) => {
    const refusal = expect.objectContaining({ name: "PromptValidationError", field });
    expect(() => new Native(options as never)).toThrow(refusal);
  });

  test("throws when a subclass without clone() is cloned", () => {
    class Mine extends (Native as typeof OpenAIFileSearchSection) {}
    expect(new Mine().key).toBe(key);
    expect(() => new Mine().clone()).toThrow("Mine cannot be cloned. Override clone()");
  });
});

describe("a native tool section in a prompt", () => {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "About $topic.",
    params: z.object({ topic: z.string() }),
  });

  test("has no heading but is numbered", () => {
    const rendered = createPrompt(new OpenAIFileSearchSection(), task)
      .bind({ topic: "owls" })
      .render();
    expect(rendered.text).toBe("## 2. Task (task)\n\nAbout owls.");
    expect(rendered.hostedTools.map(({ name }) => name)).toEqual(["file_search"]);
  });

  test("has no params and accepts none", () => {
    const prompt = createPrompt(new OpenAIFileSearchSection(), task);
    const bound = { topic: "owls", corpusIds: ["vs_1"] };
    expect(() => prompt.bind(bound)).toThrow(
      'must contain only params that a section declares, got "corpusIds"',
    );
    expect(() => createPrompt(new OpenAIShellSection()).bind({ topc: 1 })).toThrow(
      "because no section declares params",
    );
    expect(createPrompt(new OpenAIShellSection()).bind({}).render().hostedTools).toHaveLength(1);
  });

  test("requires a unique key like any other section", () => {
    const createTwice = () => createPrompt(new OpenAIShellSection(), new OpenAIShellSection());
    expect(createTwice).toThrow("must have a key that no sibling has");
  });

  test("requires a unique tool name", () => {
    const rival = new MarkdownSection({
      key: "web",
      title: "Web",
      template: "Search.",
      hostedTools: [webSearchTool()],
    });
    expect(() => createPrompt(rival, new OpenAIWebSearchSection())).toThrow(
      'must have a unique name, but section "web" also uses it',
    );
    const createBoth = () =>
      createPrompt(new OpenAIShellSection(), new OpenAIShellSection({ key: "other" }));
    expect(createBoth).toThrow("must have a unique name");
  });

  test("follows its parent: shown, disabled or summarized", () => {
    const renderParent = (options: object) =>
      createPrompt(
        new MarkdownSection({
          key: "research",
          title: "Research",
          template: "Look it up.",
          summary: "How to look things up.",
          children: [new OpenAIFileSearchSection(), new OpenAIWebSearchSection()],
          ...options,
        }),
      ).render();
    expect(renderParent({}).hostedTools.map(({ kind }) => kind)).toEqual([
      "file_search",
      "web_search",
    ]);
    expect(renderParent({}).text).toBe("## 1. Research (research)\n\nLook it up.");
    expect(renderParent({ enabled: () => false }).hostedTools).toEqual([]);
    const summed = renderParent({ visibility: "summary" });
    expect(summed.hostedTools).toEqual([]);
    expect(summed.text).toContain('It contains "openai_file_search", "openai_web_search".');
    expect(summed.tools.map(({ name }) => name)).toEqual(["open_sections"]);
  });

  test("is cloned with its parent", () => {
    const section = new OpenAIFileSearchSection({ defaultParams: { corpusIds: ["vs_1"] } });
    const parent = new MarkdownSection({
      key: "p",
      title: "P",
      template: "",
      children: [section],
    });
    const [child] = parent.clone().children;
    expect(child).toBeInstanceOf(OpenAIFileSearchSection);
    expect(child).not.toBe(section);
    expect(child?.defaultParams).toEqual(section.defaultParams);
  });

  test("is found by its class", () => {
    const section = new OpenAIShellSection();
    expect(createPrompt(section).findSection(OpenAIShellSection)).toBe(section);
    expect(createPrompt(section).findSection(NativeToolSection)).toBe(section);
  });
});

test("mergeOptions() overrides options except with undefined", () => {
  const kept: { readonly a: number; readonly b?: number | undefined } = { a: 1, b: 2 };
  expect(mergeOptions(kept, { b: 3 })).toEqual({ a: 1, b: 3 });
  expect(mergeOptions(kept, { b: undefined })).toEqual({ a: 1, b: 2 });
  expect(kept).toEqual({ a: 1, b: 2 });
});
