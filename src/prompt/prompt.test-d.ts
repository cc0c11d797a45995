import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { WebSearchConfig, WebSearchResult } from "../tools/hosted/web-search.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { WebSearchSection } from "./sections/web-search-section.ts";
import { PromptTemplate } from "./template.ts";

const intro = new MarkdownSection({ key: "intro", title: "Intro", template: "Be brief." });
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Write about $topic in $language.",
  params: z.object({ topic: z.string(), language: z.string() }),
  defaultParams: { language: "English" },
  enabled: ({ topic }) => topic !== "",
});
const limits = new MarkdownSection({
  key: "limits",
  title: "Limits",
  template: "At most $words words.",
  params: z.object({ words: z.number().default(200) }),
});

class Persona extends Section<{ readonly name: string }> {
  constructor() {
    super({ key: "persona", title: "Persona", params: z.object({ name: z.string() }) });
  }
  override render({ name }: { readonly name: string }): string {
    return `You are ${name}.`;
  }
}

const createPrompt = <Output, Sections extends Section>(
  template: PromptTemplate<Output, Sections>,
) => new Prompt(template);

describe("bind() takes one flat record", () => {
  const template = new PromptTemplate({
    ns: "demo",
    key: "write",
    sections: [
      intro,
      task,
      new WebSearchSection(),
      new MarkdownSection({
        key: "more",
        title: "More",
        template: "",
        children: [
          limits,
          new MarkdownSection({ key: "k", title: "K", template: "", children: [new Persona()] }),
        ],
      }),
    ],
  });
  const prompt = new Prompt(template);

  test("with the params of all sections, including children", () => {
    type Bound = {
      topic: string;
      language?: string;
      words?: number | undefined;
      readonly name: string;
    };
    expectTypeOf(prompt.bind).parameter(0).toEqualTypeOf<Bound>();
  });

  test("in which fields with a default may be omitted", () => {
    prompt.bind({ topic: "owls", name: "Ada" });
    prompt.bind({ topic: "owls", name: "Ada", language: "Dutch", words: 10 });
  });

  test("and rejects a missing, misspelled or wrongly typed field", () => {
    // @ts-expect-error Property 'topic' is missing
    prompt.bind({ name: "Ada" });
    // @ts-expect-error 'topik' does not exist. Did you mean to write 'topic'?
    prompt.bind({ topik: "owls", name: "Ada" });
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    prompt.bind({ topic: 1, name: "Ada" });
  });

  test("or any object if the template is typed only by its output", () => {
    const loose: PromptTemplate = template;
    new Prompt(loose).bind({ whatever: 1 });
    // @ts-expect-error not an object
    new Prompt(loose).bind(1);
    expectTypeOf(prompt).toExtend<Prompt<string>>();
  });
});

describe("an array of sections declared beforehand", () => {
  test("preserves the params of each section", () => {
    const shared = [intro, limits, task];
    const { bind } = createPrompt(new PromptTemplate({ ns: "demo", key: "k", sections: shared }));
    type Bound = { topic: string; language?: string; words?: number | undefined };
    expectTypeOf(bind).parameter(0).toEqualTypeOf<Bound>();
  });

  test("requires no params if it is typed Section[]", () => {
    const any: Section[] = [intro, task, new Persona()];
    const { bind } = createPrompt(
      new PromptTemplate({ ns: "demo", key: "k", sections: [...any, task] }),
    );
    expectTypeOf(bind).parameter(0).toEqualTypeOf<object>();
  });
});

test("a template can be typed by its params", () => {
  type Needy = PromptTemplate<string, Section<{ topic: string }>>;
  const typed: Needy = new PromptTemplate({ ns: "demo", key: "k", sections: [intro, task] });
  expectTypeOf(new Prompt(typed).bind).parameter(0).toEqualTypeOf<{ topic: string }>();
  // @ts-expect-error Persona needs a name as well
  const other: Needy = new PromptTemplate({ ns: "demo", key: "k", sections: [new Persona()] });
  expectTypeOf(other).not.toBeAny();
});

test("hostedTools() of WebSearchSection returns a typed tool", () => {
  const [tool] = new WebSearchSection().hostedTools();
  expectTypeOf(tool).toEqualTypeOf<HostedTool<WebSearchConfig, WebSearchResult>>();
  expectTypeOf(new WebSearchSection()).toExtend<Section>();
});

test("findSection() returns the requested class", () => {
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [intro] }));
  expectTypeOf(prompt.findSection(Persona)).toEqualTypeOf<Persona | null>();
});

test("bind() and attach() preserve the params and output types", () => {
  const output = z.object({ title: z.string() });
  const prompt = new Prompt(
    new PromptTemplate({ ns: "demo", key: "k", sections: [limits], output }),
  );
  expectTypeOf(prompt.bind({ words: 1 })).toEqualTypeOf<typeof prompt>();
  expectTypeOf(prompt.attach({ fileId: "file_1" })).toEqualTypeOf<typeof prompt>();
  expectTypeOf(prompt.render().output?.schema).not.toBeAny();
  // @ts-expect-error bytes need a filename
  prompt.attach({ bytes: new Uint8Array(1) });
});

test("a predicate receives the output type of the schema", () => {
  new MarkdownSection({
    key: "k",
    title: "K",
    template: "",
    params: z.object({ words: z.string().transform(Number), more: z.number().default(1) }),
    enabled(params, { session }) {
      expectTypeOf(params).toEqualTypeOf<{ words: number; more: number }>();
      expectTypeOf(session.id).toEqualTypeOf<string>();
      return true;
    },
  });
});

test("a clone has the type of its original", () => {
  expectTypeOf(task.clone()).toEqualTypeOf<typeof task>();
  expectTypeOf(new WebSearchSection().clone({ key: "news" })).toEqualTypeOf<WebSearchSection>();
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  task.clone({ title: 1 });
});
