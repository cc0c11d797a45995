import { describe, expect, test } from "vitest";
import { MarkdownSection, type Prompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { historySlice, OpenAIAdapter } from "weakincentives/openai";
import {
  createRolesPrompt,
  createUserMessage,
  rulesMessage,
  rulesSection,
  startRolesRun,
} from "./support/roles-run.ts";
import { message } from "./support/wire-server.ts";

const TURNS = 50;
const createQuestion = (turn: number) => `Question ${turn}: ${"why? ".repeat(turn % 7)}`;
const createAnswer = (turn: number) => `Answer ${turn}: ${"so. ".repeat(turn % 5)}`;
const numbers = Array.from({ length: TURNS }, (_, index) => index + 1);

describe(`a chat of ${TURNS} turns`, () => {
  test("sends each message once: a request has everything said so far, and nothing twice", async () => {
    const run = await startRolesRun(numbers.map((turn) => [message(createAnswer(turn))]));
    const prompt = createRolesPrompt(rulesSection);
    for (const turn of numbers) {
      await run.evaluate(prompt, { continue: true, input: createQuestion(turn) });
    }
    for (const [index, input] of run.inputs.entries()) {
      const said = numbers.slice(0, index).flatMap((turn) => [
        createUserMessage(createQuestion(turn)),
        {
          type: "message",
          role: "assistant",
          content: [expect.objectContaining({ text: createAnswer(turn) })],
          id: expect.any(String),
          status: "completed",
        },
      ]);
      expect(input).toEqual([rulesMessage, ...said, createUserMessage(createQuestion(index + 1))]);
    }
    expect(run.inputs).toHaveLength(TURNS);
  });

  test("sends requests that begin with the bytes of the request before, so that caches match", async () => {
    const run = await startRolesRun(numbers.map((turn) => [message(createAnswer(turn))]));
    const prompt = createRolesPrompt(rulesSection);
    for (const turn of numbers) {
      await run.evaluate(prompt, { continue: true, input: createQuestion(turn) });
    }
    const bodies = run.turns.map(({ text }) => text.split('],"model":'));
    expect(bodies).toHaveLength(TURNS);
    for (const [index, [items = "", fields = ""]] of bodies.entries()) {
      const [itemsBefore = '{"input":[', fieldsBefore = fields] = bodies[index - 1] ?? [];
      expect(items.slice(0, itemsBefore.length)).toBe(itemsBefore);
      expect(items.length).toBeGreaterThan(itemsBefore.length);
      expect(fields).toBe(fieldsBefore);
    }
  });

  test("uses exactly the input tokens of its messages, as the provider counts them", async () => {
    const model = scriptedModel(numbers.map((turn) => [{ say: createAnswer(turn) }]));
    await using provider = new LocalProvider({ model });
    const { url } = await provider.listen();
    const adapter = createLocalAdapter(url);
    const session = new Session();
    const prompt = createRulesPrompt("Be brief.");
    for (const turn of numbers) {
      const before = turn === 1 ? [rulesMessage] : session.get(historySlice);
      const input = createQuestion(turn);
      const { usage } = await adapter.evaluate(prompt, { session, continue: true, input });
      expect(usage.inputTokens).toBe(countTokens([...before, createUserMessage(input)]));
      // The stored items are the whole chat: the system text, and two messages per turn.
      expect(session.get(historySlice)).toHaveLength(1 + 2 * turn);
    }
  });
});

test("six turns of a chat do not grow by the prompt", async () => {
  const model = scriptedModel(numbers.slice(0, 6).map((turn) => [{ say: createAnswer(turn) }]));
  await using provider = new LocalProvider({ model });
  const { url } = await provider.listen();
  const adapter = createLocalAdapter(url);
  const session = new Session();
  const prompt = createRulesPrompt("Be brief, and cite the page. ".repeat(250));
  const tokens: number[] = [];
  for (const turn of numbers.slice(0, 6)) {
    const options = { session, continue: true, input: createQuestion(turn) };
    tokens.push((await adapter.evaluate(prompt, options)).usage.inputTokens);
  }
  const [first = 0, last = 0] = [tokens[0], tokens.at(-1)];
  expect(first).toBeGreaterThan(1_800);
  expect(last - first).toBeLessThan(600);
});

function createLocalAdapter(baseURL: string): OpenAIAdapter {
  return new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { baseURL, apiKey: "local" } });
}

function createRulesPrompt(template: string): Prompt {
  return createRolesPrompt(new MarkdownSection({ key: "rules", title: "Rules", template }));
}

/** Counts tokens like the local provider: a quarter of the bytes of what the model reads. */
function countTokens(items: readonly object[]): number {
  const read = JSON.stringify({ instructions: null, items, tools: [] });
  return Math.ceil(Buffer.byteLength(read) / 4);
}
