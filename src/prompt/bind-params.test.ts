import { type } from "arktype";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

/** Renders its params. */
class ParamsSection extends Section<object> {
  override render(params: object): string {
    return JSON.stringify(params);
  }
}

const createSection = (params: Schema | undefined, more: object = {}, key = "shown") =>
  new ParamsSection({ key, title: "Shown", params, ...more });

const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

/** Returns the params of each section, by its number. */
const readParams = (prompt: Prompt<unknown, object>, params: object): readonly unknown[] =>
  [
    ...prompt
      .bind(params)
      .render()
      .text.matchAll(/^\{.*\}$/gm),
  ].map(([json]) => JSON.parse(json));

describe("a section receives", () => {
  test("only its own fields, so that its schema may be strict", () => {
    const prompt = createPrompt(
      createSection(z.strictObject({ topic: z.string() }), {}, "a"),
      createSection(z.strictObject({ words: z.number() }), {}, "b"),
    );
    expect(readParams(prompt, { topic: "owls", words: 3 })).toEqual([
      { topic: "owls" },
      { words: 3 },
    ]);
  });

  test("the same value as siblings and children that declare the same field", () => {
    const child = createSection(z.object({ topic: z.string() }), {}, "child");
    const prompt = createPrompt(
      createSection(z.object({ topic: z.string() }), { children: [child] }),
    );
    expect(readParams(prompt, { topic: "owls" })).toEqual([{ topic: "owls" }, { topic: "owls" }]);
  });

  test("its defaults for unbound fields, and bound values otherwise", () => {
    const params = z.object({ language: z.string() });
    const prompt = createPrompt(createSection(params, { defaultParams: { language: "English" } }));
    expect(readParams(prompt, {})).toEqual([{ language: "English" }]);
    expect(readParams(prompt, { language: "Dutch" })).toEqual([{ language: "Dutch" }]);
  });

  test("its own default, independent of other sections", () => {
    const params = z.object({ language: z.string() });
    const prompt = createPrompt(
      createSection(params, { defaultParams: { language: "English" } }, "a"),
      createSection(params, { defaultParams: { language: "Dutch" } }, "b"),
    );
    expect(readParams(prompt, {})).toEqual([{ language: "English" }, { language: "Dutch" }]);
  });

  test("the output of its schema: defaults and transforms", () => {
    const params = z.object({
      words: z.number().default(200),
      topic: z.string().transform((topic) => topic.toUpperCase()),
    });
    expect(readParams(createPrompt(createSection(params)), { topic: "owls" })).toEqual([
      { words: 200, topic: "OWLS" },
    ]);
  });

  test("all fields if its schema is a record or allows additional properties", () => {
    const prompt = createPrompt(
      createSection(z.record(z.string(), z.unknown()), {}, "a"),
      createSection(z.looseObject({ topic: z.string() }), {}, "b"),
      createSection(z.object({ topic: z.string() }), {}, "c"),
    );
    const all = { topic: "owls", more: [1] };
    expect(readParams(prompt, all)).toEqual([all, all, { topic: "owls" }]);
  });

  test("all fields if it renders params without a schema", () => {
    const prompt = createPrompt(
      createSection(undefined, { defaultParams: {} }, "a"),
      createSection(z.object({ topic: z.string() }), {}, "b"),
    );
    const all = { topic: "owls", more: [1] };
    expect(readParams(prompt, all)).toEqual([all, { topic: "owls" }]);
  });

  test("its default for a field bound to undefined", () => {
    const params = z.object({ language: z.string() });
    const prompt = createPrompt(createSection(params, { defaultParams: { language: "Dutch" } }));
    expect(readParams(prompt, { language: undefined })).toEqual([{ language: "Dutch" }]);
  });

  test("the output of an ArkType schema", () => {
    const prompt = createPrompt(createSection(type({ topic: "string", "words?": "number" })));
    expect(readParams(prompt, { topic: "owls" })).toEqual([{ topic: "owls" }]);
  });

  test("a field named __proto__ like any other", () => {
    const params = JSON.parse('{"__proto__": {"a": 1}}');
    const [got] = readParams(
      createPrompt(createSection(z.record(z.string(), z.unknown()))),
      params,
    );
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
  });
});

describe("bind() rejects", () => {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "$topic in $words words",
    params: z.object({ topic: z.string(), words: z.number().default(200) }),
  });
  const prompt: Prompt<unknown, object> = createPrompt(
    new MarkdownSection({ key: "intro", title: "Intro", template: "", children: [task] }),
  );

  test.each([
    [
      "a missing field",
      {},
      /^Prompt "demo:k" params of section "intro\.task" must match its schema \(topic: .+\), got \{\}\. Bind the missing params, or correct them\.$/,
    ],
    [
      "a field of the wrong type",
      { topic: 1, words: "many" },
      /^Prompt "demo:k" params of section "intro\.task" must match its schema \(topic: .+; words: /,
    ],
    [
      "a misspelled field",
      { topik: "owls" },
      'Prompt "demo:k" bind(params) must contain only params that a section declares, got "topik". Did you mean "topic"?',
    ],
    ["an undeclared field", { topic: "owls", language: "Dutch" }, 'Use "topic", "words"'],
    ["an array", [], 'Prompt "demo:k" bind(params) must be a plain object, got []'],
    ["text", "owls", 'must be a plain object, got "owls"'],
    ["nothing", undefined, "must be a plain object, got undefined"],
    ["null", null, "must be a plain object, got null"],
    ["an instance", new Map(), "must be a plain object, got a Map"],
  ])("%s", (_, params, message) => {
    const bind = () => prompt.bind(params as never);
    expect(bind).toThrow(PromptValidationError);
    expect(bind).toThrow(message);
  });

  test("any field if no section declares one", () => {
    const silent: Prompt<unknown, object> = createPrompt(
      new MarkdownSection({ key: "silent", title: "Silent", template: "Shh." }),
    );
    expect(() => silent.bind({ topic: "owls" })).toThrow(
      "Omit it, because no section declares params",
    );
  });

  test("an asynchronous schema", () => {
    const later = z.object({ topic: z.string().refine(async () => true) });
    expect(() => createPrompt(createSection(later)).bind({ topic: "owls" })).toThrow(
      PromptValidationError,
    );
    const waits = asyncSchema();
    expect(() => createPrompt(createSection(waits)).bind({ topic: "owls" })).toThrow(
      "the schema is asynchronous, but a synchronous one is required here",
    );
  });

  test("a schema that transforms the object to another type", () => {
    const params = z.object({ topic: z.string() }).transform(({ topic }) => topic);
    expect(() => createPrompt(createSection(params)).bind({ topic: "owls" })).toThrow(
      "must be an object after validation",
    );
  });

  test("a default of the wrong type when it is used", () => {
    const params = z.object({ topic: z.string() });
    const defaulted: Prompt<unknown, object> = createPrompt(
      createSection(params, { defaultParams: { topic: 5 } }),
    );
    expect(() => defaulted.bind({})).toThrow(
      /params of section "shown" must match its schema \(topic: /,
    );
    expect(readParams(defaulted, { topic: "owls" })).toEqual([{ topic: "owls" }]);
  });
});

test("bind() neither changes nor retains its argument", () => {
  const given = { tags: ["a"], more: { deep: [1] } };
  const prompt: Prompt<unknown, object> = createPrompt(
    createSection(z.record(z.string(), z.unknown())),
  );
  const bound = prompt.bind(given);
  expect([given, given.tags, given.more, given.more.deep].some(Object.isFrozen)).toBe(false);
  given.tags.push("b");
  given.more.deep.push(2);
  expect(bound.render().text).toContain('{"tags":["a"],"more":{"deep":[1]}}');
});

/** Returns a schema that validates asynchronously. */
function asyncSchema(): Schema {
  const { "~standard": standard } = z.object({ topic: z.string() });
  const validate = async () => ({ value: {} });
  return { "~standard": { ...standard, validate } };
}
