import { Budget, BudgetTracker } from "../../base/budget.ts";
import { BudgetExceededError, PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectContains, expectRejection, expectSame } from "./expect.ts";
import { createPrompt, createWordPrompt, noteTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const calling = { toolCalls: [{ name: "note", arguments: { word: "a" } }] };

/** Cases about answers, events, structured output, usage and limits. */
export const answerCases: readonly ContractCase[] = [
  {
    name: "sends the prompt and returns the answer as text and output",
    script: [{ text: "Hello." }],
    async check({ adapter, asked }) {
      const response = await adapter.evaluate(createPrompt(), { session: new Session() });
      expectSame(
        [response.text, response.output, response.finishReason],
        ["Hello.", "Hello.", "stop"],
        "response",
      );
      expectSame(asked().length, 1, "requests");
      expectContains(asked()[0], "Do what the contract says.", "the first request");
    },
  },
  {
    name: "publishes the events of an evaluation in order, with session, prompt and adapter",
    script: [calling, { text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      await adapter.evaluate(createPrompt([noteTool]), { session });
      const told = bus.types().filter((type) => type !== "ContractNoted");
      const turn = ["TurnStarted", "TurnCompleted"];
      expectSame(
        told,
        ["PromptRendered", ...turn, "ToolInvoked", ...turn, "PromptExecuted"],
        "events",
      );
      const [executed] = bus.of("PromptExecuted");
      expectSame(
        [executed?.sessionId, executed?.promptName, executed?.adapter, executed?.turns],
        [session.id, "contract:text", adapter.name, 2],
        "PromptExecuted",
      );
    },
  },
  {
    name: "parses structured output and keeps the model's text",
    script: [{ text: '{"word":"owl"}' }],
    async check({ adapter }) {
      const response = await adapter.evaluate(createWordPrompt(), { session: new Session() });
      expectSame(response.output, { word: "owl" }, "response.output");
      expectSame(response.text.replace(/\s/g, ""), '{"word":"owl"}', "response.text");
    },
  },
  {
    name: "rejects an answer that does not match the schema in phase parse, with its text in error.partial",
    script: [{ text: "an owl" }],
    async check({ adapter }) {
      const work = adapter.evaluate(createWordPrompt(), { session: new Session() });
      const error = await expectRejection(work, PromptEvaluationError);
      expectSame(
        [error.phase, error.partial.text, error.partial.turns],
        ["parse", "an owl", 1],
        "error",
      );
    },
  },
  {
    name: "adds up the usage of all turns",
    script: [
      {
        ...calling,
        usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 4, reasoningTokens: 1 },
      },
      {
        text: "Done.",
        usage: { inputTokens: 20, outputTokens: 3, cachedTokens: 6, reasoningTokens: 2 },
      },
    ],
    async check({ adapter }) {
      const { usage } = await adapter.evaluate(createPrompt([noteTool]), {
        session: new Session(),
      });
      const sum = {
        inputTokens: 30,
        outputTokens: 5,
        cachedTokens: 10,
        reasoningTokens: 3,
        totalTokens: 35,
      };
      expectSame(usage, sum, "usage");
    },
  },
  {
    name: "stops before the next request when the budget is exceeded, with the partial result",
    script: [
      { ...calling, text: "First.", usage: { inputTokens: 100, outputTokens: 1 } },
      { text: "never" },
    ],
    async check({ adapter, asked }) {
      const budgetTracker = new BudgetTracker(new Budget({ maxTotalTokens: 100 }));
      const work = adapter.evaluate(createPrompt([noteTool]), {
        session: new Session(),
        budgetTracker,
      });
      const error = await expectRejection(work, BudgetExceededError);
      expectSame([error.partial.text, error.partial.usage.totalTokens], ["First.", 101], "partial");
      expectSame(
        [asked().length, budgetTracker.total.totalTokens],
        [1, 101],
        "requests and tracked tokens",
      );
    },
  },
  {
    name: "stops after maxTurns if the model never answers",
    script: [calling, calling, calling],
    async check({ adapter, asked }) {
      const work = adapter.evaluate(createPrompt([noteTool]), {
        session: new Session(),
        maxTurns: 2,
      });
      const error = await expectRejection(work, PromptEvaluationError);
      expectSame([error.phase, error.partial.turns, asked().length], ["response", 2, 2], "error");
    },
  },
];
