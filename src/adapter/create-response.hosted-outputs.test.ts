import { describe, expect, test } from "vitest";
import * as z from "zod";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { createHostedOutputs } from "./create-response.ts";

test("createHostedOutputs() finds an output by its tool and by the tool's name", () => {
  const found = { text: "Owls.", citations: [] };
  const outputs = createHostedOutputs([["search", found]]);
  const tool = webSearchTool({}, { name: "search" });
  const native = new NativeTool({
    name: "search",
    description: "Searches.",
    params: z.object({}),
    result: z.object({}),
  });
  expect(outputs.get(tool)).toBe(found);
  expect(outputs.get(native)).toBe(found);
  expect(outputs.get("search")).toBe(found);
  expect(outputs.get(webSearchTool())).toBeUndefined();
  expect(outputs.get("web_search")).toBeUndefined();
  expect([outputs.has(tool), outputs.has("search"), outputs.has(webSearchTool())]).toEqual([
    true,
    true,
    false,
  ]);
});

test("createHostedOutputs() uses the last output of a name", () => {
  expect(
    createHostedOutputs([
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ]).get("a"),
  ).toBe(3);
});

describe("the hosted outputs of a response", () => {
  const createOutputs = () =>
    createHostedOutputs([
      ["a", { list: [{ n: 1 }] }],
      ["b", null],
    ]);

  test("have all methods of a read-only map", () => {
    const outputs = createOutputs();
    const a = { list: [{ n: 1 }] };
    const entries = [
      ["a", a],
      ["b", null],
    ];
    expect([...outputs]).toEqual(entries);
    expect([...outputs.entries()]).toEqual(entries);
    expect([...outputs.keys()]).toEqual(["a", "b"]);
    expect([...outputs.values()]).toEqual([a, null]);
    expect([outputs.size, outputs.has("b"), outputs.has("c")]).toEqual([2, true, false]);
    expect(new Map(outputs)).toEqual(
      new Map<string, unknown>([
        ["a", a],
        ["b", null],
      ]),
    );
    const seen: unknown[] = [];
    outputs.forEach(function (this: unknown, value, key, map) {
      seen.push([this, value, key, map === outputs]);
    }, "self");
    expect(seen).toEqual([
      ["self", a, "a", true],
      ["self", null, "b", true],
    ]);
  });

  test("do not have the properties that every object has", () => {
    const outputs = createHostedOutputs([["__proto__", 1]]);
    expect([outputs.get("__proto__"), outputs.get("toString"), outputs.has("constructor")]).toEqual(
      [1, undefined, false],
    );
    expect(JSON.stringify(outputs)).toBe('{"__proto__":1}');
  });

  test("are serialized to JSON by the tools' names", () => {
    expect(JSON.stringify({ hostedOutputs: createOutputs() })).toBe(
      '{"hostedOutputs":{"a":{"list":[{"n":1}]},"b":null}}',
    );
    expect(JSON.stringify(createHostedOutputs([]))).toBe("{}");
  });

  test("keep their data in a structured clone", () => {
    expect(structuredClone(createOutputs())).toEqual({
      outputs: { a: { list: [{ n: 1 }] }, b: null },
    });
  });

  test("cannot be changed, not even with the methods of Map", () => {
    const outputs = createOutputs();
    for (const method of ["set", "delete", "clear"] as const) {
      expect(method in outputs).toBe(false);
      expect(() => Reflect.apply(Map.prototype[method], outputs, ["a", 1])).toThrow(TypeError);
    }
    expect(() => Object.assign(outputs, { extra: 1 })).toThrow(TypeError);
    expect(() => Object.assign(Object(outputs).outputs, { a: 1 })).toThrow(TypeError);
    for (const entry of outputs.entries()) entry[1] = "changed";
    Object.assign(outputs.toJSON(), { a: "changed" });
    expect(outputs.get("a")).toEqual({ list: [{ n: 1 }] });
    expect(outputs.size).toBe(2);
  });

  test("are frozen deeply", () => {
    const found = createOutputs().get("a") as { list: { n: number }[] };
    expect(Object.isFrozen(found.list[0])).toBe(true);
    expect(() => found.list.push({ n: 2 })).toThrow(TypeError);
  });
});
