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
import { NativeToolSection, overriding } from "./native-tool-section.ts";
import { OpenAIShellSection } from "./shell-section.ts";
import { OpenAIWebSearchSection } from "./web-search-section.ts";

const promptOf = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

const kinds = [
  ["openai_file_search", OpenAIFileSearchSection, "File search", "file_search"],
  ["openai_web_search", OpenAIWebSearchSection, "Web search", "web_search"],
  ["openai_code_interpreter", OpenAICodeInterpreterSection, "Code interpreter", "code_interpreter"],
  ["openai_shell", OpenAIShellSection, "Shell", "shell"],
  ["openai_apply_patch", OpenAIApplyPatchSection, "Apply patch", "apply_patch"],
] as const;

describe.each(kinds)("the section %s", (key, Native, title, kind) => {
  test("says nothing and carries one tool, called like its kind", () => {
    const section = new Native();
    expect(section).toMatchObject({ key, title, acceptsOverrides: false, children: [] });
    expect(section.render()).toBe("");
    expect(section.tools()).toEqual([]);
    expect(section.hostedTools()).toEqual([section.tool]);
    expect(section.tool).toBeInstanceOf(HostedTool);
    expect(section.tool).toMatchObject({ kind, name: kind });
    expect(Object.isFrozen(section.defaultParams)).toBe(true);
  });

  test("takes part in a prompt by its tool alone", () => {
    const rendered = promptOf(new Native()).render();
    expect(rendered.text).toBe("");
    expect(rendered.tools).toEqual([]);
    expect(rendered.hostedTools).toMatchObject([{ kind, name: kind }]);
    expect(rendered.nativeTools).toMatchObject([{ type: "built_in", name: kind, kind }]);
    expect(rendered.descriptor).toMatchObject({ sections: [], tools: [] });
  });

  test("may have another key, and a clone of it keeps that", () => {
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

  test("is left out where its predicate says so, in a clone too", () => {
    const session = new Session();
    const seen: unknown[] = [];
    const section = new Native({
      enabled: (params, context) => {
        seen.push(params, context.session);
        return false;
      },
    });
    for (const one of [section, section.clone(), section.clone({ key: "k" })]) {
      expect(promptOf(one).render({ session }).hostedTools).toEqual([]);
    }
    expect(seen).toEqual([{}, session, {}, session, {}, session]);
    const shown = section.clone({ enabled: () => true });
    expect(promptOf(shown).render({ session }).hostedTools).toHaveLength(1);
  });

  test("refuses a model that is known to lack the tool", () => {
    const nativeTools = { small: ["mcp"] };
    const make = () => new Native({ model: "small-1", nativeTools });
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      `Section "${key}" model must be a model that can run "${kind}", got "small-1": ` +
        `the model "small-1" (listed as "small") can run "mcp", and not "${kind}": use another model`,
    );
  });

  test("takes a model that can run the tool, and one that nobody knows", () => {
    for (const model of ["gpt-5", "gpt-5.2-codex", "my-own"]) {
      expect(new Native({ model }).key).toBe(key);
    }
  });

  test("keeps its model when it is cloned, and checks it anew", () => {
    const section = new Native({ model: "gpt-5" });
    expect(section.clone().key).toBe(key);
    expect(() => section.clone({ nativeTools: { "gpt-5": [] } })).toThrow("model must be");
    function* once() {
      yield kind;
    }
    const listed = new Native({ model: "small", nativeTools: { small: once() } });
    expect(listed.clone().clone().key).toBe(key);
    expect(listed.nativeTools).toEqual({ small: [kind] });
    expect(() => listed.clone({ nativeTools: { small: [] } })).toThrow("can run no hosted tools");
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
  ])("is refused with %o", (options, field) => {
    const refusal = expect.objectContaining({ name: "PromptValidationError", field });
    expect(() => new Native(options as never)).toThrow(refusal);
  });

  test("is not cloned for a subclass, which may need more", () => {
    class Mine extends (Native as typeof OpenAIFileSearchSection) {}
    expect(new Mine().key).toBe(key);
    expect(() => new Mine().clone()).toThrow("Mine cannot be cloned. Override clone()");
  });
});

describe("in a prompt", () => {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "About $topic.",
    params: z.object({ topic: z.string() }),
  });

  test("such a section leaves its heading out and is counted", () => {
    const rendered = promptOf(new OpenAIFileSearchSection(), task).bind({ topic: "owls" }).render();
    expect(rendered.text).toBe("## 2. Task (task)\n\nAbout owls.");
    expect(rendered.hostedTools.map(({ name }) => name)).toEqual(["file_search"]);
  });

  test("it needs nothing bound, and lets nothing be bound", () => {
    const prompt = promptOf(new OpenAIFileSearchSection(), task);
    const bound = { topic: "owls", corpusIds: ["vs_1"] };
    expect(() => prompt.bind(bound)).toThrow(
      'must contain only params that a section declares, got "corpusIds"',
    );
    expect(() => promptOf(new OpenAIShellSection()).bind({ topc: 1 })).toThrow(
      "no section declares params",
    );
    expect(promptOf(new OpenAIShellSection()).bind({}).render().hostedTools).toHaveLength(1);
  });

  test("it stands by its key like any other", () => {
    const twice = () => promptOf(new OpenAIShellSection(), new OpenAIShellSection());
    expect(twice).toThrow("must have a key that no sibling has");
  });

  test("its tool's name must be its own", () => {
    const rival = new MarkdownSection({
      key: "web",
      title: "Web",
      template: "Search.",
      hostedTools: [webSearchTool()],
    });
    expect(() => promptOf(rival, new OpenAIWebSearchSection())).toThrow(
      'must have a unique name, but section "web" also uses it',
    );
    const two = () => promptOf(new OpenAIShellSection(), new OpenAIShellSection({ key: "other" }));
    expect(two).toThrow("must have a unique name");
  });

  test("it goes with its parent: shown, disabled or summed up", () => {
    const within = (options: object) =>
      promptOf(
        new MarkdownSection({
          key: "research",
          title: "Research",
          template: "Look it up.",
          summary: "How to look things up.",
          children: [new OpenAIFileSearchSection(), new OpenAIWebSearchSection()],
          ...options,
        }),
      ).render();
    expect(within({}).hostedTools.map(({ kind }) => kind)).toEqual(["file_search", "web_search"]);
    expect(within({}).text).toBe("## 1. Research (research)\n\nLook it up.");
    expect(within({ enabled: () => false }).hostedTools).toEqual([]);
    const summed = within({ visibility: "summary" });
    expect(summed.hostedTools).toEqual([]);
    expect(summed.text).toContain('It contains "openai_file_search", "openai_web_search".');
    expect(summed.tools.map(({ name }) => name)).toEqual(["open_sections"]);
  });

  test("it is cloned with its parent", () => {
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

  test("it is found by its class", () => {
    const section = new OpenAIShellSection();
    expect(promptOf(section).findSection(OpenAIShellSection)).toBe(section);
    expect(promptOf(section).findSection(NativeToolSection)).toBe(section);
  });
});

test("options of a clone stand over the kept ones, unless they are undefined", () => {
  const kept: { readonly a: number; readonly b?: number | undefined } = { a: 1, b: 2 };
  expect(overriding(kept, { b: 3 })).toEqual({ a: 1, b: 3 });
  expect(overriding(kept, { b: undefined })).toEqual({ a: 1, b: 2 });
  expect(kept).toEqual({ a: 1, b: 2 });
});
