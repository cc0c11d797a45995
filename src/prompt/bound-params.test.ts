import { type } from "arktype";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

/** Shows what it got. */
class Shown extends Section<object> {
  override render(params: object): string {
    return JSON.stringify(params);
  }
}

const shown = (params: Schema | undefined, more: object = {}, key = "shown") =>
  new Shown({ key, title: "Shown", params, ...more });

const promptOf = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

/** What each section got, by its number. */
const gotten = (prompt: Prompt<unknown, object>, params: object): readonly unknown[] =>
  [
    ...prompt
      .bind(params)
      .render()
      .text.matchAll(/^\{.*\}$/gm),
  ].map(([json]) => JSON.parse(json));

describe("a section gets", () => {
  test("its own fields and no others, so that its schema may be strict", () => {
    const prompt = promptOf(
      shown(z.strictObject({ topic: z.string() }), {}, "a"),
      shown(z.strictObject({ words: z.number() }), {}, "b"),
    );
    expect(gotten(prompt, { topic: "owls", words: 3 })).toEqual([{ topic: "owls" }, { words: 3 }]);
  });

  test("what its siblings and children get, where they declare the same", () => {
    const child = shown(z.object({ topic: z.string() }), {}, "child");
    const prompt = promptOf(shown(z.object({ topic: z.string() }), { children: [child] }));
    expect(gotten(prompt, { topic: "owls" })).toEqual([{ topic: "owls" }, { topic: "owls" }]);
  });

  test("its defaults where nothing is bound, and what is bound where something is", () => {
    const params = z.object({ language: z.string() });
    const prompt = promptOf(shown(params, { defaultParams: { language: "English" } }));
    expect(gotten(prompt, {})).toEqual([{ language: "English" }]);
    expect(gotten(prompt, { language: "Dutch" })).toEqual([{ language: "Dutch" }]);
  });

  test("its own default, which is nobody else's", () => {
    const params = z.object({ language: z.string() });
    const prompt = promptOf(
      shown(params, { defaultParams: { language: "English" } }, "a"),
      shown(params, { defaultParams: { language: "Dutch" } }, "b"),
    );
    expect(gotten(prompt, {})).toEqual([{ language: "English" }, { language: "Dutch" }]);
  });

  test("what its schema makes of it: defaults and transforms", () => {
    const params = z.object({
      words: z.number().default(200),
      topic: z.string().transform((topic) => topic.toUpperCase()),
    });
    expect(gotten(promptOf(shown(params)), { topic: "owls" })).toEqual([
      { words: 200, topic: "OWLS" },
    ]);
  });

  test("everything, if its schema is a record or open to more", () => {
    const prompt = promptOf(
      shown(z.record(z.string(), z.unknown()), {}, "a"),
      shown(z.looseObject({ topic: z.string() }), {}, "b"),
      shown(z.object({ topic: z.string() }), {}, "c"),
    );
    const all = { topic: "owls", more: [1] };
    expect(gotten(prompt, all)).toEqual([all, all, { topic: "owls" }]);
  });

  test("everything, if it renders params of which no schema tells", () => {
    const prompt = promptOf(
      shown(undefined, { defaultParams: {} }, "a"),
      shown(z.object({ topic: z.string() }), {}, "b"),
    );
    const all = { topic: "owls", more: [1] };
    expect(gotten(prompt, all)).toEqual([all, { topic: "owls" }]);
  });

  test("its default where undefined is bound", () => {
    const params = z.object({ language: z.string() });
    const prompt = promptOf(shown(params, { defaultParams: { language: "Dutch" } }));
    expect(gotten(prompt, { language: undefined })).toEqual([{ language: "Dutch" }]);
  });

  test("what an ArkType schema makes of it", () => {
    const prompt = promptOf(shown(type({ topic: "string", "words?": "number" })));
    expect(gotten(prompt, { topic: "owls" })).toEqual([{ topic: "owls" }]);
  });

  test("a field called __proto__ as a field like any other", () => {
    const params = JSON.parse('{"__proto__": {"a": 1}}');
    const [got] = gotten(promptOf(shown(z.record(z.string(), z.unknown()))), params);
    expect(Object.getPrototypeOf(got)).toBe(Object.prototype);
  });
});

describe("bind refuses", () => {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "$topic in $words words",
    params: z.object({ topic: z.string(), words: z.number().default(200) }),
  });
  const prompt: Prompt<unknown, object> = promptOf(
    new MarkdownSection({ key: "intro", title: "Intro", template: "", children: [task] }),
  );

  test.each([
    [
      "what is missing",
      {},
      /^Prompt "demo:k" params of section "intro\.task" must fit its schema \(topic: .+\), got \{\}. Bind what is missing or correct it$/,
    ],
    [
      "what is wrongly typed",
      { topic: 1, words: "many" },
      /^Prompt "demo:k" params of section "intro\.task" must fit its schema \(topic: .+; words: /,
    ],
    [
      "what is misspelled",
      { topik: "owls" },
      'Prompt "demo:k" bind(params) must only have what some section declares, got "topik". Did you mean "topic"?',
    ],
    ["what nobody declares", { topic: "owls", language: "Dutch" }, 'there are "topic", "words"'],
    ["a list", [], 'Prompt "demo:k" bind(params) must be a plain object, got []'],
    ["text", "owls", 'must be a plain object, got "owls"'],
    ["nothing", undefined, "must be a plain object, got undefined"],
    ["null", null, "must be a plain object, got null"],
    ["an instance", new Map(), "must be a plain object, got a Map"],
  ])("%s", (_, params, message) => {
    const bind = () => prompt.bind(params as never);
    expect(bind).toThrow(PromptValidationError);
    expect(bind).toThrow(message);
  });

  test("anything where no section declares a field", () => {
    const silent: Prompt<unknown, object> = promptOf(
      new MarkdownSection({ key: "silent", title: "Silent", template: "Shh." }),
    );
    expect(() => silent.bind({ topic: "owls" })).toThrow("no section declares any");
  });

  test("a schema that cannot answer at once", () => {
    const later = z.object({ topic: z.string().refine(async () => true) });
    expect(() => promptOf(shown(later)).bind({ topic: "owls" })).toThrow(PromptValidationError);
    const waits = asynchronous();
    expect(() => promptOf(shown(waits)).bind({ topic: "owls" })).toThrow(
      "the schema is asynchronous, but a synchronous one is required here",
    );
  });

  test("a schema that makes something else of an object", () => {
    const params = z.object({ topic: z.string() }).transform(({ topic }) => topic);
    expect(() => promptOf(shown(params)).bind({ topic: "owls" })).toThrow(
      "must be an object once validated",
    );
  });

  test("a default of the wrong type, once it is used", () => {
    const params = z.object({ topic: z.string() });
    const defaulted: Prompt<unknown, object> = promptOf(
      shown(params, { defaultParams: { topic: 5 } }),
    );
    expect(() => defaulted.bind({})).toThrow(
      /params of section "shown" must fit its schema \(topic: /,
    );
    expect(gotten(defaulted, { topic: "owls" })).toEqual([{ topic: "owls" }]);
  });
});

test("what was given to bind is neither changed nor kept", () => {
  const given = { tags: ["a"], more: { deep: [1] } };
  const prompt: Prompt<unknown, object> = promptOf(shown(z.record(z.string(), z.unknown())));
  const bound = prompt.bind(given);
  expect([given, given.tags, given.more, given.more.deep].some(Object.isFrozen)).toBe(false);
  given.tags.push("b");
  given.more.deep.push(2);
  expect(bound.render().text).toContain('{"tags":["a"],"more":{"deep":[1]}}');
});

/** A schema whose every answer is a promise. */
function asynchronous(): Schema {
  const { "~standard": standard } = z.object({ topic: z.string() });
  const validate = async () => ({ value: {} });
  return { "~standard": { ...standard, validate } };
}
