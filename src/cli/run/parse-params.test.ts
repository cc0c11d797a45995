import { describe, expect, test } from "vitest";
import * as z from "zod";
import { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { listAgentParams } from "./agent-params.ts";
import type { Agent } from "./load-agent.ts";
import { checkRequired, type GivenParams, parseParams } from "./parse-params.ts";

const size = z.enum(["small", "large"]).meta({ id: "Size" });
const shape = {
  topic: z.string(),
  count: z.int().default(1),
  price: z.number().optional(),
  isHot: z.boolean().optional(),
  names: z.array(z.string()).optional(),
  place: z.object({ city: z.string() }).optional(),
  note: z.string().nullable().optional(),
  limit: z.int().nullable().optional(),
  size: size.optional(),
  level: z.literal([1, 2]).optional(),
  extra: z.unknown().optional(),
};

const prompt = definePrompt({
  name: "baker",
  instructions: "Bake $topic.",
  params: z.object(shape),
});

function createLoop(request: z.ZodType): Agent {
  const adapter = () => {
    throw new Error("unused");
  };
  const prepare = () => definePrompt({ name: "a", instructions: "b" });
  return { kind: "loop", loop: new AgentLoop<unknown>({ name: "l", request, prepare, adapter }) };
}

const agents: readonly (readonly [string, Agent])[] = [
  ["a prompt", { kind: "prompt", prompt: new Prompt(prompt.template) }],
  ["a loop", createLoop(z.object(shape))],
];

const flag = (...flags: string[]): GivenParams => ({ flags });
const json = (text: string, ...flags: string[]): GivenParams => ({
  flags,
  json: { text, field: "standard input" },
});

describe.each(agents)("the params of %s", (_kind, agent) => {
  const params = listAgentParams(agent);

  test("have the types that their schemas declare", () => {
    const flags = [
      ...["topic=3", "count=3", "price=1.5", "isHot=true", 'names=["a"]', 'place={"city":"L"}'],
      ...["note=null", "limit=null", "size=small", "level=2", "extra=[1]"],
    ];
    expect(parseParams(flag(...flags), params)).toEqual({
      topic: "3",
      count: 3,
      price: 1.5,
      isHot: true,
      names: ["a"],
      place: { city: "L" },
      note: "null",
      limit: null,
      size: "small",
      level: 2,
      extra: "[1]",
    });
  });

  test("come from JSON too, and flags win", () => {
    const text = ' {"topic": "rye", "count": 2, "note": null}\n';
    expect(parseParams(json(text, "count=4"), params)).toEqual({
      topic: "rye",
      count: 4,
      note: null,
    });
  });

  test("may contain = and line breaks, and be empty", () => {
    expect(parseParams(flag("topic=a=b\nc", "note="), params)).toEqual({
      topic: "a=b\nc",
      note: "",
    });
  });

  test.each([
    [flag("topic"), '--param must be name=value, got "topic". Use --param topic=bread.'],
    [flag("=x"), '--param must be name=value, got "=x". Use'],
    [flag("topc=x"), '--param must name params of the agent, got "topc". Did you mean "topic"?'],
    [flag("x=1"), 'params of the agent, got "x". Use "topic", "count", "price",'],
    [flag("__proto__=1"), '--param must name params of the agent, got "__proto__"'],
    [flag("count=1", "count=2"), '--param must be passed once, got "count". Pass it once; a list'],
    [
      flag("count=abc"),
      '--param count must be an integer, got "abc". Use JSON, such as --param count=3.',
    ],
    [flag("count=1.5"), '--param count must be an integer, got "1.5"'],
    [flag('isHot="true"'), "--param isHot must be a boolean, got"],
    [flag("limit=x"), '--param limit must be an integer or null, got "x"'],
    [
      flag("names=a"),
      '--param names must be an array, got "a". Use JSON, such as --param names=\'[',
    ],
    [flag("place=[]"), '--param place must be an object, got "[]"'],
    [json("{"), 'standard input must be JSON, got "{". '],
    [json("[1]"), "standard input must be a JSON object, got [1]. Pass one object with all"],
    [json("null"), "standard input must be a JSON object, got null."],
    [json('{"topc": 1}'), 'standard input must name params of the agent, got "topc". Did you mean'],
  ])("are refused if they are wrong: %j", (given, problem) => {
    expect(() => parseParams(given, params)).toThrow(problem);
  });

  test("must include those without a default", () => {
    expect(params.required).toEqual(["topic"]);
    expect(() => checkRequired({ count: 1 }, params)).toThrow(
      '--param must include "topic", got ["count"]. Add --param topic=…, or pass JSON on standard input',
    );
    expect(() => checkRequired({ topic: "" }, params)).not.toThrow();
  });
});

test("params of several sections are combined, and default params are not required", () => {
  const sections = [
    new MarkdownSection({
      key: "a",
      title: "A",
      template: "$one $two",
      params: z.object({ one: z.string(), two: z.int() }),
      defaultParams: { two: 2 },
    }),
    new MarkdownSection({ key: "b", title: "B", template: "-", params: z.looseObject({}) }),
  ];
  const template = new PromptTemplate({ ns: "a", key: "b", sections });
  const params = listAgentParams({ kind: "prompt", prompt: new Prompt<string>(template) });
  expect(params.required).toEqual(["one"]);
  expect(parseParams(flag("other=1", "two=3"), params)).toEqual({ other: "1", two: 3 });
});

test("a union has the fields of its variants, and requires the common ones", () => {
  const request = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("a"), id: z.string(), count: z.int() }),
    z.object({ kind: z.literal("b"), id: z.string() }),
  ]);
  const params = listAgentParams(createLoop(request));
  expect(params.required).toEqual(["kind", "id"]);
  expect(parseParams(flag("kind=a", "id=1", "count=2"), params)).toEqual({
    kind: "a",
    id: "1",
    count: 2,
  });
  expect(() => parseParams(flag("nope=1"), params)).toThrow("must name params of the agent");
});

test("a recursive schema and an intersection have fields", () => {
  interface Tree {
    children?: Tree[] | undefined;
  }
  const tree: z.ZodType<Tree> = z.object({ children: z.lazy(() => z.array(tree)).optional() });
  const recursive = listAgentParams(createLoop(tree));
  expect(parseParams(flag('children=[{"children":[]}]'), recursive)).toEqual({
    children: [{ children: [] }],
  });
  const both = createLoop(z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() })));
  expect(parseParams(flag("a=1", "b=1"), listAgentParams(both))).toEqual({ a: 1, b: "1" });
});

test("a request that is not an object comes from JSON as it is", () => {
  const params = listAgentParams(createLoop(z.array(z.int())));
  expect(parseParams(json("[1, 2]"), params)).toEqual([1, 2]);
  expect(parseParams({ flags: [] }, params)).toBeUndefined();
  expect(() => checkRequired([1], params)).not.toThrow();
});
