import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { HostedOutputs } from "../../adapter/prompt-response.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import type { ApplyPatchResult } from "../../tools/hosted/apply-patch.ts";
import type { CodeInterpreterResult } from "../../tools/hosted/code-interpreter.ts";
import type { FileSearchResult } from "../../tools/hosted/file-search.ts";
import type { ShellResult } from "../../tools/hosted/shell.ts";
import type { WebSearchResult } from "../../tools/hosted/web-search.ts";
import { OpenAIApplyPatchSection } from "./apply-patch-section.ts";
import { OpenAICodeInterpreterSection } from "./code-interpreter-section.ts";
import { OpenAIFileSearchSection } from "./file-search-section.ts";
import { OpenAIShellSection } from "./shell-section.ts";
import { OpenAIWebSearchSection } from "./web-search-section.ts";

const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "About $topic.",
  params: z.object({ topic: z.string() }),
});

const createPrompt = <Output, Sections extends Section>(
  template: PromptTemplate<Output, Sections>,
) => new Prompt(template);

describe("native tool sections", () => {
  const native = [
    new OpenAIFileSearchSection(),
    new OpenAIWebSearchSection(),
    new OpenAICodeInterpreterSection(),
    new OpenAIShellSection(),
    new OpenAIApplyPatchSection(),
  ];

  test("add no params to bind", () => {
    const sections = [new OpenAIFileSearchSection(), task, new OpenAIWebSearchSection()];
    const { bind } = createPrompt(new PromptTemplate({ ns: "demo", key: "k", sections }));
    expectTypeOf(bind).parameter(0).toEqualTypeOf<{ topic: string }>();
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));
    // @ts-expect-error 'corpusIds' does not exist
    prompt.bind({ topic: "owls", corpusIds: [] });
    // @ts-expect-error Property 'topic' is missing
    prompt.bind({});
  });

  test("add no params as children", () => {
    const parent = new MarkdownSection({
      key: "p",
      title: "P",
      template: "",
      children: [task, new OpenAIShellSection()],
    });
    const { bind } = createPrompt(new PromptTemplate({ ns: "demo", key: "k", sections: [parent] }));
    expectTypeOf(bind).parameter(0).toEqualTypeOf<{ topic: string }>();
  });

  test("require no params on their own", () => {
    const { bind } = createPrompt(new PromptTemplate({ ns: "demo", key: "k", sections: native }));
    expectTypeOf(bind).parameter(0).toEqualTypeOf<object>();
  });

  test("preserve the params of other sections in an array", () => {
    const sections = [...native, task];
    const { bind } = createPrompt(new PromptTemplate({ ns: "demo", key: "k", sections }));
    expectTypeOf(bind).parameter(0).toEqualTypeOf<{ topic: string }>();
  });
});

test("defaultParams of native tool sections have all fields", () => {
  const { defaultParams } = new OpenAIFileSearchSection({ defaultParams: { maxResults: 1 } });
  expectTypeOf(defaultParams.corpusIds).toEqualTypeOf<readonly string[]>();
  expectTypeOf(defaultParams.maxResults).toEqualTypeOf<number>();
  expectTypeOf(new OpenAIWebSearchSection().defaultParams.allowLiveAccess).toEqualTypeOf<boolean>();
  expectTypeOf(new OpenAIShellSection().defaultParams.environment.type).toEqualTypeOf<
    "container" | "local"
  >();
  const { timeoutSeconds } = new OpenAICodeInterpreterSection().defaultParams;
  expectTypeOf(timeoutSeconds).toEqualTypeOf<number>();
  // @ts-expect-error Cannot assign to 'maxResults'
  defaultParams.maxResults = 2;
  // @ts-expect-error 'vectorStoreIds' does not exist
  new OpenAIFileSearchSection({ defaultParams: { vectorStoreIds: [] } });
  // @ts-expect-error 'corpusIds' does not exist
  new OpenAIFileSearchSection({ corpusIds: [] });
});

test("hostedOutputs.get(section.tool) returns the typed output", () => {
  const outputs = {} as HostedOutputs;
  expectTypeOf(outputs.get(new OpenAIFileSearchSection().tool)).toEqualTypeOf<
    FileSearchResult | undefined
  >();
  expectTypeOf(outputs.get(new OpenAIWebSearchSection().tool)).toEqualTypeOf<
    WebSearchResult | undefined
  >();
  expectTypeOf(outputs.get(new OpenAICodeInterpreterSection().tool)).toEqualTypeOf<
    CodeInterpreterResult | undefined
  >();
  expectTypeOf(outputs.get(new OpenAIShellSection().tool)).toEqualTypeOf<ShellResult | undefined>();
  expectTypeOf(outputs.get(new OpenAIApplyPatchSection().tool)).toEqualTypeOf<
    ApplyPatchResult | undefined
  >();
});

test("hostedTools() returns the typed tool", () => {
  const [tool] = new OpenAIWebSearchSection().hostedTools();
  expectTypeOf(tool["~output"]).toEqualTypeOf<WebSearchResult>();
  const [code] = new OpenAICodeInterpreterSection().hostedTools();
  expectTypeOf(code["~output"]).toEqualTypeOf<CodeInterpreterResult>();
});

test("clone() has the section's type and the constructor's options", () => {
  expectTypeOf(new OpenAIFileSearchSection().clone()).toEqualTypeOf<OpenAIFileSearchSection>();
  new OpenAIShellSection().clone({ key: "sh", model: "gpt-5", defaultParams: {} });
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  new OpenAIShellSection().clone({ key: 1 });
  // @ts-expect-error 'title' does not exist
  new OpenAIShellSection().clone({ title: "Sh" });
});

test("enabled() receives empty params and the session", () => {
  new OpenAIShellSection({
    enabled(params, { session }) {
      expectTypeOf(params).toEqualTypeOf<object>();
      return session.id !== "";
    },
  });
});
