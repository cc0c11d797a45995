import { expect, test } from "vitest";
import {
  HostedTool,
  InvalidOptionError,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { type InstrumentOptions, instrument } from "weakincentives/telemetry";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";
import { lookTool } from "../support/openai-run.ts";
import { createTraceFixture } from "../support/telemetry/trace-fixture.ts";

const SECRET = "Ms. Private";

/** Runs an evaluation that has a secret in every place that content can come from. */
async function runWithSecrets(options: InstrumentOptions) {
  const fixture = createTraceFixture();
  const session = new Session();
  fixture.instrument(session, options);
  const find = new Tool({
    name: "find",
    description: `Finds ${SECRET}.`,
    params: z.object({ who: z.string(), image: z.string().optional() }),
    handler: ({ who }) =>
      who === "" ? ToolResult.error(`${SECRET} is missing.`) : ToolResult.ok({ found: who }),
  });
  const parts = { key: "task", title: "Task", template: `Find ${SECRET}.`, tools: [find] };
  const hosted = new HostedTool({ kind: "web_search", name: "web", description: "W.", config: {} });
  const rules = new MarkdownSection({
    ...{ key: "rules", title: "Rules", template: `Never name ${SECRET}.` },
    role: "system",
  });
  const task = new MarkdownSection({ ...parts, role: "user", hostedTools: [hosted] });
  const template = new PromptTemplate({ ns: "test", key: "content", sections: [rules, task] });
  const model = scriptedClient(
    {
      text: `I look for ${SECRET}.`,
      finishReason: "tool_calls",
      toolCalls: [
        { name: "find", callId: "c1", arguments: { who: SECRET, image: "A".repeat(2_000) } },
        { name: "find", callId: "c2", arguments: { who: "" } },
        { name: "find", callId: "c3", arguments: `{"whom":"${SECRET}"}` },
      ],
      hostedCalls: [
        {
          name: "web",
          kind: "web_search",
          callId: "h1",
          params: { query: SECRET },
          output: SECRET,
        },
      ],
    },
    { text: `Found ${SECRET}.` },
    new Error(`${SECRET} broke it`),
  );
  await model.evaluate(new Prompt(template), { session, input: `She is ${SECRET}.` });
  await model.evaluate(new Prompt(template), { session }).catch(() => {});
  return fixture;
}

test("no span and no metric has content by default", async () => {
  const fixture = await runWithSecrets({});
  const spans = fixture.listSpans().map(({ name, attributes, events, status }) => ({
    ...{ name, attributes, events, status },
  }));
  expect(spans.length).toBeGreaterThan(8);
  expect(JSON.stringify(spans)).not.toContain("Private");
  const metrics = [...(await fixture.readMetrics()).values()];
  expect(JSON.stringify(metrics)).not.toContain("Private");
});

test("captureContent adds prompts, answers, arguments and results in the format of the conventions", async () => {
  const fixture = await runWithSecrets({ captureContent: true });
  const [agent, first, web, find, missing, rejected, second] = fixture.listSpans();
  const read = (span: typeof agent, name: string): unknown =>
    JSON.parse(String(span?.attributes[name]));

  const instructions = [
    { type: "text", content: expect.stringContaining("Never name Ms. Private.") },
  ];
  expect(read(agent, "gen_ai.system_instructions")).toEqual(instructions);
  expect(read(first, "gen_ai.system_instructions")).toEqual(instructions);
  const input = [
    {
      role: "user",
      parts: [{ type: "text", content: expect.stringContaining("Find Ms. Private.") }],
    },
    { role: "user", parts: [{ type: "text", content: "She is Ms. Private." }] },
  ];
  expect(read(agent, "gen_ai.input.messages")).toEqual(input);
  expect(read(first, "gen_ai.input.messages")).toEqual(input);
  expect(read(agent, "gen_ai.tool.definitions")).toEqual([
    {
      ...{ type: "function", name: "find", description: "Finds Ms. Private." },
      parameters: expect.objectContaining({ type: "object" }),
    },
    { type: "web_search", name: "web" },
  ]);
  expect(read(first, "gen_ai.output.messages")).toEqual([
    {
      role: "assistant",
      finish_reason: "tool_call",
      parts: [
        { type: "text", content: "I look for Ms. Private." },
        { type: "tool_call", id: "c1", name: "find", arguments: expect.stringContaining("AAAA") },
        { type: "tool_call", id: "c2", name: "find", arguments: '{"who":""}' },
        { type: "tool_call", id: "c3", name: "find", arguments: '{"whom":"Ms. Private"}' },
      ],
    },
  ]);

  expect(read(web, "gen_ai.tool.call.arguments")).toEqual({ query: SECRET });
  expect(web?.attributes["gen_ai.tool.call.result"]).toContain(SECRET);
  const image = "[2000 characters]"; // base64 is replaced by its length
  expect(read(find, "gen_ai.tool.call.arguments")).toEqual({ who: SECRET, image });
  expect(find?.attributes["gen_ai.tool.call.result"]).toBe('OK\n\n{"found":"Ms. Private"}');
  expect(missing?.status.message).toBe("Ms. Private is missing.");
  expect(rejected?.attributes["gen_ai.tool.call.arguments"]).toBe('{"whom":"Ms. Private"}');

  const responses = ["c1", "c2", "c3"].map((id) => ({
    role: "tool",
    parts: [{ type: "tool_call_response", id, response: expect.any(String) }],
  }));
  expect(read(second, "gen_ai.input.messages")).toEqual(responses);
  expect(second?.attributes).not.toHaveProperty("gen_ai.system_instructions"); // as before
  const answer = { type: "text", content: "Found Ms. Private." };
  const output = [{ role: "assistant", parts: [answer], finish_reason: "stop" }];
  expect(read(second, "gen_ai.output.messages")).toEqual(output);
  expect(read(agent, "gen_ai.output.messages")).toEqual(output);
  expect(fixture.listSpans().at(-1)?.status.message).toBe("Ms. Private broke it");
});

test("maxContentLength limits the content of each attribute, which stays valid JSON", async () => {
  const fixture = await runWithSecrets({ captureContent: true, maxContentLength: 12 });
  const [agent, first, , find] = fixture.listSpans();
  expect(JSON.parse(String(first?.attributes["gen_ai.output.messages"]))[0].parts).toEqual([
    { type: "text", content: "I look for M[11 more characters]" },
    { type: "tool_call", id: "c1", name: "find", arguments: "[2032 more characters]" },
    { type: "tool_call", id: "c2", name: "find", arguments: "[10 more characters]" },
    { type: "tool_call", id: "c3", name: "find", arguments: "[22 more characters]" },
  ]);
  expect(find?.attributes["gen_ai.tool.call.result"]).toBe('OK\n\n{"found"[15 more characters]');
  expect(agent?.attributes).not.toHaveProperty("gen_ai.tool.definitions");

  const wider = await runWithSecrets({ captureContent: true, maxContentLength: 100 });
  const [widerAgent] = wider.listSpans();
  expect(JSON.parse(String(widerAgent?.attributes["gen_ai.tool.definitions"]))).toEqual([
    { type: "function", name: "find" },
    { type: "web_search", name: "web" },
  ]);
});

test("a prompt that is rendered again has its new instructions in the next request, and its input once", async () => {
  const fixture = createTraceFixture();
  const session = new Session();
  fixture.instrument(session, { captureContent: true });
  const rules = new MarkdownSection({
    ...{ key: "rules", title: "Rules", template: "All the details.", role: "system" },
    ...{ summary: "In short.", visibility: "summary" },
    tools: [lookTool], // a section with tools is opened, not read
  });
  const template = new PromptTemplate({ ns: "test", key: "open", sections: [rules] });
  const open = {
    name: "open_sections",
    arguments: { section_keys: ["rules"], reason: "Why not." },
  };
  const model = scriptedClient({ toolCalls: [open] }, { text: "Done." });
  await model.evaluate(new Prompt(template), { session, input: "Hi." });
  const chats = fixture.listSpans().filter(({ name }) => name === "chat");
  const instructions = chats.map(({ attributes }) => attributes["gen_ai.system_instructions"]);
  expect(instructions[0]).toContain("In short.");
  expect(instructions[1]).toContain("All the details.");
  expect(chats[1]?.attributes["gen_ai.input.messages"]).not.toContain("Hi.");
});

test.each([
  [{ tracer: 1 }, "instrument(tracer) must be an OpenTelemetry tracer, got 1."],
  [{ tracer: null }, "instrument(tracer) must be an OpenTelemetry tracer, got null."],
  [{ meter: {} }, "instrument(meter) must be an OpenTelemetry meter, got {}."],
  [{ captureContent: "yes" }, 'instrument(captureContent) must be a boolean, got "yes".'],
  [{ maxContentLength: 0 }, "instrument(maxContentLength) must be a positive integer, got 0."],
  [{ api: {} }, "instrument(api) must be the module @opentelemetry/api, got {}."],
  [{ maxContentLength: "9" }, 'instrument(maxContentLength) must be a positive integer, got "9".'],
])("instrument() refuses the options %o", (options, message) => {
  const call = () => instrument(new Session(), Object(options));
  expect(call).toThrow(InvalidOptionError);
  expect(call).toThrow(message);
});

test.each([[null], [{}], [{ publish: () => {} }], ["session"]])(
  "instrument() refuses %o instead of a session or a bus",
  (target) => {
    const rule = "instrument(sessionOrBus) must be a session or an event bus";
    expect(() => instrument(target as never)).toThrow(rule);
  },
);
