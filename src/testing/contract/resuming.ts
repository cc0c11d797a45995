import { Session } from "../../session/session.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { createContractStore } from "./contract-store.ts";
import { catchRejection, expectContains, expectSame } from "./expect.ts";
import { createPrompt, wordTool } from "./prompts.ts";
import type { ContractCase, ContractTurn } from "./subject.ts";

const script: readonly ContractTurn[] = [
  { toolCalls: [{ name: "count", arguments: { word: "one" } }] },
  { text: "Done." },
];

/** Cases about `resume` on a stored session. */
export const resumingCases: readonly ContractCase[] = [
  {
    name: "resumes an interrupted evaluation with its answer, and starts no call again",
    script,
    async check({ adapter, asked }) {
      const store = createContractStore();
      const { prompt, countCalls } = createCountingPrompt();
      const stop = new AbortController();
      const session = await Session.openOrCreate(store, "contract");
      session.bus.subscribe("ToolInvoked", () => stop.abort(new Error("interrupted")));
      const { signal } = stop;
      const thrown = await catchRejection(adapter.evaluate(prompt, { session, signal }));
      expectSame(thrown === signal.reason, true, "the reason itself is thrown");
      const again = await Session.openOrCreate(store, "contract");
      const { text } = await adapter.evaluate(prompt, { session: again, resume: true });
      expectSame([text, countCalls()], ["Done.", 1], "the answer and the number of calls");
      expectContains(asked().at(-1), "counted one", "the last request");
    },
  },
  {
    name: "answers a finished evaluation from the store, without a request",
    script,
    async check({ adapter, asked }) {
      const store = createContractStore();
      const { prompt, countCalls } = createCountingPrompt();
      const session = await Session.openOrCreate(store, "contract");
      const first = await adapter.evaluate(prompt, { session });
      const requests = asked().length;
      const again = await Session.openOrCreate(store, "contract");
      const second = await adapter.evaluate(prompt, { session: again, resume: true });
      expectSame([second.text, second.usage], [first.text, first.usage], "the answer");
      expectSame([asked().length, countCalls()], [requests, 1], "requests and calls");
    },
  },
];

function createCountingPrompt() {
  let calls = 0;
  const count = wordTool("count", ({ word }) => {
    calls += 1;
    return ToolResult.ok(`counted ${word}`);
  });
  return { prompt: createPrompt([count]), countCalls: () => calls };
}
