import { Budget, BudgetTracker } from "../../base/budget.ts";
import { BudgetExceededError, PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { failure, holds, same } from "./expect.ts";
import { noteTool, promptWith, wordPrompt } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const calling = { toolCalls: [{ name: "note", arguments: { word: "a" } }] };

/** Answers, events, structured output, usage, limits. */
export const answerCases: readonly ContractCase[] = [
  {
    name: "an answer is the response's text and output, and the prompt was sent",
    script: [{ text: "Hello." }],
    async check({ adapter, asked }) {
      const response = await adapter.evaluate(promptWith(), { session: new Session() });
      same(
        [response.text, response.output, response.finishReason],
        ["Hello.", "Hello.", "stop"],
        "response",
      );
      same(asked().length, 1, "requests");
      holds(asked()[0], "Do what the contract says.", "the first request");
    },
  },
  {
    name: "events tell what happened, in order, with who and when",
    script: [calling, { text: "Done." }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      await adapter.evaluate(promptWith([noteTool]), { session });
      const told = bus.types().filter((type) => type !== "ContractNoted");
      const turn = ["TurnStarted", "TurnCompleted"];
      same(told, ["PromptRendered", ...turn, "ToolInvoked", ...turn, "PromptExecuted"], "events");
      const [executed] = bus.of("PromptExecuted");
      same(
        [executed?.sessionId, executed?.promptName, executed?.adapter, executed?.turns],
        [session.id, "contract:text", adapter.name, 2],
        "PromptExecuted",
      );
    },
  },
  {
    name: "structured output is read and typed, and leaves no text",
    script: [{ text: '{"word":"owl"}' }],
    async check({ adapter }) {
      const response = await adapter.evaluate(wordPrompt(), { session: new Session() });
      same([response.output, response.text], [{ word: "owl" }, null], "response");
    },
  },
  {
    name: "an answer that does not fit fails in phase parse and is not lost",
    script: [{ text: "an owl" }],
    async check({ adapter }) {
      const work = adapter.evaluate(wordPrompt(), { session: new Session() });
      const error = await failure(work, PromptEvaluationError);
      same([error.phase, error.partial.text, error.partial.turns], ["parse", "an owl", 1], "error");
    },
  },
  {
    name: "usage is summed over all turns",
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
      const { usage } = await adapter.evaluate(promptWith([noteTool]), { session: new Session() });
      const sum = {
        inputTokens: 30,
        outputTokens: 5,
        cachedTokens: 10,
        reasoningTokens: 3,
        totalTokens: 35,
      };
      same(usage, sum, "usage");
    },
  },
  {
    name: "a budget stops the evaluation before the next step, and what was had is kept",
    script: [
      { ...calling, text: "First.", usage: { inputTokens: 100, outputTokens: 1 } },
      { text: "never" },
    ],
    async check({ adapter, asked }) {
      const budgetTracker = new BudgetTracker(new Budget({ maxTotalTokens: 100 }));
      const work = adapter.evaluate(promptWith([noteTool]), {
        session: new Session(),
        budgetTracker,
      });
      const error = await failure(work, BudgetExceededError);
      same([error.partial.text, error.partial.usage.totalTokens], ["First.", 101], "partial");
      same(
        [asked().length, budgetTracker.total.totalTokens],
        [1, 101],
        "requests and tracked tokens",
      );
    },
  },
  {
    name: "maxTurns ends a model that never answers",
    script: [calling, calling, calling],
    async check({ adapter, asked }) {
      const work = adapter.evaluate(promptWith([noteTool]), {
        session: new Session(),
        maxTurns: 2,
      });
      const error = await failure(work, PromptEvaluationError);
      same([error.phase, error.partial.turns, asked().length], ["response", 2, 2], "error");
    },
  },
];
