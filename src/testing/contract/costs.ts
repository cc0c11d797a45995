import { Budget } from "../../base/budget.ts";
import { BudgetExceededError } from "../../base/evaluation-errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectRejection, expectSame } from "./expect.ts";
import { createPrompt, noteTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

const usage = { inputTokens: 100, outputTokens: 10 };
const callNote = {
  toolCalls: [{ name: "note", callId: "call_note", arguments: { word: "x" } }],
  usage,
};

/** Prices of every model. */
const createPrices = (input: number) => ({
  date: "2026-01-01",
  models: { "": { input, cachedInput: input, output: input } },
  hosted: {},
});

/** Cases about costs and the report of requests. */
export const costCases: readonly ContractCase[] = [
  {
    name: "has a cost for every turn and for the whole evaluation",
    script: [callNote, { text: "Done.", usage }],
    async check({ adapter }) {
      const bus = recordingBus();
      const budget = new Budget({ maxUsd: 1_000, prices: createPrices(1) });
      const session = new Session({ bus });
      const { costUsd = -1 } = await adapter.evaluate(createPrompt([noteTool]), {
        session,
        budget,
      });
      expectSame(costUsd >= 0, true, "the cost of the response is known");
      const [executed] = bus.of("PromptExecuted");
      expectSame(executed?.costUsd, costUsd, "the cost in PromptExecuted");
      const turns = bus.of("TurnCompleted").map((turn) => (turn.costUsd ?? -1) >= 0);
      expectSame(turns, [true, true], "whether the cost of each turn is known");
    },
  },
  {
    name: "stops after the turn that costs more than maxUsd",
    script: [callNote, { text: "never", usage }],
    async check({ adapter, asked }) {
      const budget = new Budget({ maxUsd: 0.5, prices: createPrices(1_000_000) });
      const work = adapter.evaluate(createPrompt([noteTool]), { session: new Session(), budget });
      const { dimension, limit } = await expectRejection(work, BudgetExceededError);
      expectSame([dimension, limit], ["usd", 0.5], "the exceeded limit");
      expectSame(asked().length, 1, "requests");
    },
  },
  {
    name: "reports its requests as frozen data, each tool output once, if it reports any",
    script: [callNote, { text: "Done.", usage }],
    async check({ adapter }) {
      const bus = recordingBus();
      const session = new Session({ bus });
      const { egress } = await adapter.evaluate(createPrompt([noteTool]), { session });
      const { requests, verdict } = egress;
      const isFrozen = [egress, requests, ...requests].every(Object.isFrozen);
      expectSame(isFrozen, true, "whether the report is frozen");
      const isStored = requests.some(({ stored }) => stored);
      expectSame(verdict, isStored ? "stored at the provider" : "nothing stored", "verdict");
      if (requests.length === 0) return; // the adapter sends nothing
      const calls = bus.of("ToolInvoked").map(({ callId }) => callId);
      expectSame(
        requests.flatMap(({ toolOutputs }) => toolOutputs),
        calls,
        "tool outputs",
      );
      const isHashed = requests.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256));
      expectSame(isHashed, true, "whether every request has a SHA-256");
    },
  },
];
