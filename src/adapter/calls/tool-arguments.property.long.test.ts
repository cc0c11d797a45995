import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import { isToolResult, ToolResult } from "../../tools/tool-result.ts";

const tools = [
  new Tool({
    name: "add",
    description: "Adds.",
    params: z.object({ a: z.number(), b: z.number().optional() }),
    handler: ({ a, b = 0 }) => ToolResult.ok(a + b),
  }),
  new Tool({
    name: "echo",
    description: "Echoes.",
    params: z.record(z.string(), z.unknown()),
    handler: (params) => ToolResult.ok(params),
  }),
  new Tool({
    name: "look",
    description: "Looks.",
    params: null,
    handler: (params) => ToolResult.ok(params),
  }),
];
const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

const name = fc.oneof(
  fc.constantFrom("add", "echo", "look", "ad", "__proto__", "constructor", ""),
  fc.string(),
);
const args = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.record({ a: fc.oneof(fc.double(), fc.string()), b: fc.anything() }).map(stringifyOr("{}")),
  fc.constantFrom("", " ", "{", "[]", "null", '{"__proto__":{"a":1}}', '{"a":1e999}', '{"a":-0}'),
);

test("any tool call, even a malformed one, gets a readable result", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name, arguments: args }), { minLength: 1 }),
      async (calls) => {
        const bus = recordingBus();
        const client = scriptedClient({ toolCalls: calls }, { text: "Done." });
        const response = await client.evaluate(prompt, { session: new Session({ bus }) });
        expect(response.text).toBe("Done.");
        const answers = client.asked[1]?.answers ?? [];
        expect(answers.map(({ call }) => [call.name, call.arguments])).toEqual(
          calls.map((call) => [call.name, call.arguments]),
        );
        for (const { result, text } of answers) {
          expect(isToolResult(result)).toBe(true);
          expect(text).not.toBe("");
          if (!result.success) expect(text).toBe(result.message);
        }
        const events = bus.of("ToolInvoked");
        expect(events.map(({ result }) => result)).toEqual(answers.map(({ result }) => result));
        for (const { params, result } of events) {
          const problem = { rejected: true, problem: result.message };
          if (!result.success) expect(params).toMatchObject(problem);
        }
      },
    ),
  );
});

test("arguments that are JSON objects reach the handler unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (params) => {
      const client = scriptedClient(
        { toolCalls: [{ name: "echo", arguments: JSON.stringify(params) }] },
        { text: "Done." },
      );
      await client.evaluate(prompt, { session: new Session() });
      const [answer] = client.asked[1]?.answers ?? [];
      const own = Object.entries(params).filter(([key]) => key !== "__proto__");
      expect(answer?.result).toEqual(
        ToolResult.ok(JSON.parse(JSON.stringify(Object.fromEntries(own)))),
      );
    }),
  );
});

/** Returns a function that serializes a value, or returns `other` if that is impossible. */
function stringifyOr(other: string): (value: unknown) => string {
  return (value) => {
    try {
      return JSON.stringify(value) ?? other;
    } catch {
      return other; // it has a bigint or a cycle
    }
  };
}
