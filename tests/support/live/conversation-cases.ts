import { expect } from "vitest";
import {
  codeInterpreterTool,
  definePrompt,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type StreamEvent,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { backgroundCases } from "./background-cases.ts";
import type { ConversationCase } from "./conversation-case.ts";

const code = "print(2 ** 64)";
const numbers = "one two three four five six seven eight nine ten eleven twelve";
const birds = definePrompt({
  name: "live:birds",
  instructions: "You answer questions about birds, with one word and no punctuation.",
});

/** The tests of roles, input, streams and responses in the background. */
export const conversationCases: readonly ConversationCase[] = [
  {
    name: "delivers the text of a response in parts",
    script: [[{ say: numbers }]],
    async run(options) {
      const prompt = definePrompt({ name: "live:count", instructions: "Write numbers as words." });
      const stream = new OpenAIAdapter(options).stream(prompt, { input: "Count to twelve." });
      const deltas: string[] = [];
      for await (const delta of stream.text()) deltas.push(delta);
      expect(deltas.length).toBeGreaterThan(3);
      expect(deltas.join("")).toBe((await stream.response).text);
      expect(deltas.join("").toLowerCase()).toContain("twelve");
    },
  },
  {
    name: "delivers the code and status of a hosted call, and publishes progress",
    script: [[{ code }], [{ say: "It is 18446744073709551616." }]],
    async run(options) {
      const tool = codeInterpreterTool();
      const prompt = definePrompt({
        name: "live:code",
        instructions: "Compute with Python. Always run code, and print the result.",
        hostedTools: [tool],
      });
      const bus = recordingBus();
      const adapter = new OpenAIAdapter(options);
      const input = "What is two to the power of 64?";
      const stream = adapter.stream(prompt, { session: new Session({ bus }), input });
      const events = await collect(stream);
      const calls = events.filter((event) => event.type === "hostedCall");
      const response = await stream.response;
      const [call] = response.hostedCalls;
      const own = calls.filter(({ callId }) => callId === call?.callId);
      expect(own.every(({ kind }) => kind === "code_interpreter")).toBe(true);
      expect(own[0]?.status).not.toBe("completed");
      expect(own.at(-1)?.status).toBe("completed");
      const output = response.hostedOutputs.get(tool);
      expect(own.map(({ delta = "" }) => delta).join("")).toBe(output?.calls[0]?.code);
      const progress = bus.of("TurnProgressed");
      expect(progress.length).toBeGreaterThan(0);
      expect(progress.at(-1)?.receivedBytes).toBeGreaterThan(0);
    },
  },
  {
    name: "delivers the arguments of a function call and output as it grows",
    script: [[{ call: { name: "add", args: { a: 1234, b: 8765 } } }], [{ say: { sum: 9999 } }]],
    async run(options) {
      const add = new Tool({
        name: "add",
        description: "Adds two numbers.",
        params: z.object({ a: z.number(), b: z.number() }),
        handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
      });
      const prompt = definePrompt({
        name: "live:add",
        instructions: "Add with the tool.",
        tools: [add],
        output: z.object({ sum: z.number() }),
      });
      const stream = new OpenAIAdapter(options).stream(prompt, { input: "Add 1234 and 8765." });
      const events = collect(stream);
      const values: unknown[] = [];
      for await (const value of stream.partialOutput()) values.push(value);
      expect(values.at(-1)).toEqual({ sum: 9999 });
      expect((await stream.response).output).toEqual({ sum: 9999 });
      const calls = (await events).filter((event) => event.type === "toolCall");
      expect(new Set(calls.map(({ callId }) => callId)).size).toBe(1);
      const args: unknown = JSON.parse(calls.map(({ delta }) => delta).join(""));
      expect(args).toEqual({ a: 1234, b: 8765 });
    },
  },
  {
    name: "ends the request when the last reader leaves",
    script: [[{ say: numbers }, { stall: 60_000 }, { say: "and so on" }]],
    async run(options) {
      const bus = recordingBus();
      const stream = new OpenAIAdapter(options).stream(birds, {
        session: new Session({ bus }),
        input: "Write the names of 100 birds. Ignore the rule about one word.",
      });
      for await (const delta of stream.text()) {
        expect(delta).not.toBe("");
        break;
      }
      await expect(stream.response).rejects.toMatchObject({ name: "AbortError" });
      expect(bus.of("PromptFailed").length).toBe(1);
    },
  },
  {
    name: "reads a whole response if streams are refused",
    script: [[{ say: "heron" }]],
    async run(options) {
      const asked: boolean[] = [];
      const { fetch: send = fetch } = options.clientConfig ?? {};
      const refuseStreams: typeof fetch = async (url, init) => {
        const { stream = false } = JSON.parse(await new Response(init?.body).text());
        asked.push(stream);
        if (!stream) return await send(url, init);
        const error = { message: "Streams are not supported.", param: "stream", code: null };
        return Response.json({ error }, { status: 400 });
      };
      const clientConfig = { ...options.clientConfig, fetch: refuseStreams };
      const adapter = new OpenAIAdapter({ ...options, clientConfig });
      const stream = adapter.stream(birds, { input: "Which grey wading bird is tall?" });
      const parts: string[] = [];
      for await (const delta of stream.text()) parts.push(delta);
      expect(asked).toEqual([true, false]);
      expect(parts).toEqual([(await stream.response).text]);
    },
  },
  {
    name: "answers from system text, a user section and an input",
    script: [[{ say: "heron" }]],
    async run(options) {
      const template = new PromptTemplate({
        ns: "live",
        key: "roles",
        sections: [
          new MarkdownSection({
            key: "rules",
            title: "Rules",
            template: "Answer with one word, in lower case and without punctuation.",
          }),
          new MarkdownSection({
            key: "note",
            title: "Note",
            role: "user",
            template: "The bird of the day is the $bird.",
            params: z.object({ bird: z.string() }),
          }),
        ],
      });
      const prompt = new Prompt(template).bind({ bird: "heron" });
      const input = "Which bird is it today?";
      const { text } = await new OpenAIAdapter(options).evaluate(prompt, { input });
      expect(text).toBe("heron");
    },
  },
  {
    name: "sends each message of a chat once",
    script: Array.from({ length: 4 }, () => [{ say: "heron" }]),
    async run(options) {
      const rules = Array.from({ length: 60 }, (_, index) => `Rule ${index}: stay on the subject.`);
      const instructions = `Answer with the name of a bird.\n${rules.join("\n")}`;
      const prompt = definePrompt({ name: "live:chat", instructions });
      const adapter = new OpenAIAdapter(options);
      const session = new Session();
      let previous = { inputTokens: 0, outputTokens: 0 };
      for (const input of ["A tall bird?", "A small one?", "A red one?", "A loud one?"]) {
        const { usage } = await adapter.evaluate(prompt, { session, input, continue: true });
        if (previous.inputTokens > 0) {
          const added = usage.inputTokens - previous.inputTokens;
          // The answer, the question and what the provider adds around a message.
          expect(added).toBeGreaterThan(0);
          expect(added).toBeLessThanOrEqual(previous.outputTokens + 60);
        } else expect(usage.inputTokens).toBeGreaterThan(400);
        previous = usage;
      }
    },
  },
  {
    name: "runs an agent of ten lines without a session",
    script: [[{ say: "heron" }], [{ say: "heron" }]],
    async run(options) {
      const adapter = new OpenAIAdapter(options);
      const first = await adapter.evaluate(birds, {
        input: "Repeat the name of this bird: heron",
      });
      expect(first.text.toLowerCase()).toBe("heron");
      const { text } = await adapter.evaluate(birds, {
        session: first.session,
        continue: true,
        input: "Which bird did I name?",
      });
      expect(text.toLowerCase()).toBe("heron");
    },
  },
  ...backgroundCases,
];

async function collect(stream: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
