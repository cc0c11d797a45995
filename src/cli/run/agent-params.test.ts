import { expect, test } from "vitest";
import * as z from "zod";
import { jsonSchema } from "../../base/schema/json-schema.ts";
import type { Schema } from "../../base/schema/schema.ts";
import { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { type AgentParams, listAgentParams } from "./agent-params.ts";
import { parseParams } from "./parse-params.ts";

/** Lists the params of a loop with this request. */
function listParams(request: Schema): AgentParams {
  const adapter = () => {
    throw new Error("unused");
  };
  const prepare = () => definePrompt({ name: "a", instructions: "b" });
  const loop = new AgentLoop<unknown>({ name: "l", request, prepare, adapter });
  return listAgentParams({ kind: "loop", loop });
}

const listTypes = ({ types }: AgentParams) =>
  Object.fromEntries([...types].map(([name, accepted]) => [name, [...accepted]]));

test("a schema without types has the types of its constants", () => {
  const properties = {
    size: { enum: ["small", 2, null] },
    rate: { const: 0.5 },
    extras: { enum: [[1], { a: 1 }, true] },
    any: {},
  };
  const params = listParams(jsonSchema({ type: "object", properties }));
  expect(listTypes(params)).toEqual({
    size: ["string", "integer", "null"],
    rate: ["number"],
    extras: ["array", "object", "boolean"],
    any: [],
  });
  expect(parseParams({ flags: ["rate=0.5", "extras=[1]"] }, params)).toEqual({
    rate: 0.5,
    extras: [1],
  });
});

test("a param that refers to the whole request accepts an object", () => {
  const request = {
    type: "object",
    properties: { parent: { $ref: "#" }, name: { $ref: "#/$defs/name" } },
    $defs: { name: { type: "string" } },
  };
  expect(listTypes(listParams(jsonSchema(request)))).toEqual({
    parent: ["object"],
    name: ["string"],
  });
});

test("a param accepts any value if its reference is not resolved, or its unions are too deep", () => {
  let deep: object = { type: "integer" };
  for (let depth = 0; depth < 21; depth++) deep = { anyOf: [deep] };
  const request = {
    type: "object",
    properties: {
      other: { $ref: "#/properties/count" },
      count: { type: "integer" },
      deep,
      either: { anyOf: [{ type: "integer" }, true] },
    },
  };
  const params = listParams(jsonSchema(request));
  expect(listTypes(params)).toEqual({ other: [], count: ["integer"], deep: [], either: [] });
  expect(parseParams({ flags: ["deep=1"] }, params)).toEqual({ deep: "1" });
});

test("a request that matches one of no schemas requires no params", () => {
  expect(listParams(jsonSchema({ anyOf: [{ type: "string" }] }))).toMatchObject({
    required: [],
    isObject: false,
  });
});

test("sections without params and with all defaults require none", () => {
  const params = z.object({ kind: z.string() });
  const sections = [
    new MarkdownSection({ key: "a", title: "A", template: "-" }),
    new MarkdownSection({
      ...{ key: "b", title: "B", template: "$kind", params },
      defaultParams: { kind: "rye" },
    }),
  ];
  const template = new PromptTemplate({ ns: "a", key: "b", sections });
  const listed = listAgentParams({ kind: "prompt", prompt: new Prompt<string>(template) });
  expect([listed.required, listTypes(listed)]).toEqual([[], { kind: ["string"] }]);
});

test("params are refused by an agent that has none", () => {
  const prompt = definePrompt({ name: "poet", instructions: "Write." });
  const listed = listAgentParams({ kind: "prompt", prompt: new Prompt<string>(prompt.template) });
  expect(() => parseParams({ flags: ["kind=rye"] }, listed)).toThrow(
    '--param must name params of the agent, got "kind". Omit it: the agent has no params.',
  );
});
