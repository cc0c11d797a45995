import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
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

const promptOf = <Output, Sections extends Section>(template: PromptTemplate<Output, Sections>) =>
  new Prompt(template);

describe("bind takes one flat record", () => {
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

  test("of what all sections need, children included", () => {
    type Bound = {
      topic: string;
      language?: string;
      words?: number | undefined;
      readonly name: string;
    };
    expectTypeOf(prompt.bind).parameter(0).toEqualTypeOf<Bound>();
  });

  test("where defaults, ours or the schema's, may be left out", () => {
    prompt.bind({ topic: "owls", name: "Ada" });
    prompt.bind({ topic: "owls", name: "Ada", language: "Dutch", words: 10 });
  });

  test("and refuses a missing, a misspelled and a wrongly typed field", () => {
    // @ts-expect-error Property 'topic' is missing
    prompt.bind({ name: "Ada" });
    // @ts-expect-error 'topik' does not exist. Did you mean to write 'topic'?
    prompt.bind({ topik: "owls", name: "Ada" });
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    prompt.bind({ topic: 1, name: "Ada" });
  });

  test("or any object, once the template is typed by its output alone", () => {
    const loose: PromptTemplate = template;
    new Prompt(loose).bind({ whatever: 1 });
    // @ts-expect-error not an object
    new Prompt(loose).bind(1);
    expectTypeOf(prompt).toExtend<Prompt<string>>();
  });
});

describe("a list of sections made beforehand", () => {
  test("keeps what each of them needs", () => {
    const shared = [intro, limits, task];
    const { bind } = promptOf(new PromptTemplate({ ns: "demo", key: "k", sections: shared }));
    type Bound = { topic: string; language?: string; words?: number | undefined };
    expectTypeOf(bind).parameter(0).toEqualTypeOf<Bound>();
  });

  test("asks for nothing known when typed Section[]", () => {
    const any: Section[] = [intro, task, new Persona()];
    const { bind } = promptOf(
      new PromptTemplate({ ns: "demo", key: "k", sections: [...any, task] }),
    );
    expectTypeOf(bind).parameter(0).toEqualTypeOf<object>();
  });
});

test("a template may be typed by what it needs", () => {
  type Needy = PromptTemplate<string, Section<{ topic: string }>>;
  const typed: Needy = new PromptTemplate({ ns: "demo", key: "k", sections: [intro, task] });
  expectTypeOf(new Prompt(typed).bind).parameter(0).toEqualTypeOf<{ topic: string }>();
  // @ts-expect-error Persona needs a name as well
  const other: Needy = new PromptTemplate({ ns: "demo", key: "k", sections: [new Persona()] });
  expectTypeOf(other).not.toBeAny();
});

test("findSection gives back the class it was asked for", () => {
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [intro] }));
  expectTypeOf(prompt.findSection(Persona)).toEqualTypeOf<Persona | null>();
});

test("bind and attach keep what a prompt needs and answers with", () => {
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

test("a predicate sees the params as its schema gives them out", () => {
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

test("a clone is what its original is", () => {
  expectTypeOf(task.clone()).toEqualTypeOf<typeof task>();
  expectTypeOf(new WebSearchSection().clone({ key: "news" })).toEqualTypeOf<WebSearchSection>();
  // @ts-expect-error Type 'number' is not assignable to type 'string'
  task.clone({ title: 1 });
});
