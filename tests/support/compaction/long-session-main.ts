/**
 * A process that continues a long session until all steps are done, and prints its progress:
 * `node --expose-gc tests/support/compaction/long-session-main.ts URL DIRECTORY ID STEPS`.
 */
import { writeSync } from "node:fs";
import { memoryUsage } from "node:process";
import * as z from "zod";
import {
  defineSlice,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "../../../src/index.ts";
import { compactionSlice, historySlice, OpenAIAdapter } from "../../../src/openai/index.ts";
import { JsonlSessionStore } from "../../../src/stores/index.ts";

interface StepNoted {
  readonly type: "StepNoted";
  readonly step: number;
}

declare module "../../../src/session/event-map.ts" {
  interface EventMap {
    StepNoted: StepNoted;
  }
}

/** The session's progress. A step that is repeated after a crash counts once. */
const ledger = defineSlice("ledger", {
  initial: { step: 0, sum: 0 },
  on: {
    StepNoted: (kept, { step }) =>
      step === kept.step + 1 ? { step, sum: addToSum(kept.sum, step) } : kept,
  },
});

/** Adds a step to a sum that shows whether every step was counted once and in order. */
export function addToSum(sum: number, step: number): number {
  return (sum * 31 + step) % 1_000_003;
}

/** The number of steps per evaluation. */
export const STEPS_PER_EVALUATION = 50;
export const THRESHOLD_TOKENS = 16_000;

/** One line of the process's output. */
export type ProgressLine =
  | {
      readonly is: "at";
      readonly ledger: { readonly step: number; readonly sum: number };
      /** The heap size in bytes after garbage collection. */
      readonly heap: number;
      /** The number of items in the stored history. */
      readonly items: number;
    }
  | { readonly is: "compacted"; readonly tokens: number }
  | { readonly is: "done"; readonly ledger: object; readonly answer: string };

if (import.meta.main) {
  const [, , url = "", directory = "", id = "", steps = ""] = process.argv;
  const store = new JsonlSessionStore(directory, { onRepair: () => {} });
  const slices = [ledger, historySlice, compactionSlice];
  const exists = (await store.list()).includes(id);
  const session = exists ? await Session.open(store, id, slices) : new Session({ store, id });
  for (const slice of slices) session.register(slice);
  session.bus.subscribe("ContextCompacted", ({ tokensBefore: tokens }) =>
    printLine({ is: "compacted", tokens }),
  );
  const adapter = new OpenAIAdapter({
    model: "local",
    hostedTools: { codeInterpreter: true },
    clientConfig: { baseURL: url, apiKey: "local" },
    compaction: { thresholdTokens: THRESHOLD_TOKENS },
    modelConfig: { store: false },
  });
  let answer = "";
  while (session.get(ledger).step < Number(steps)) {
    const { step } = session.get(ledger);
    const goal = Math.min(
      step - (step % STEPS_PER_EVALUATION) + STEPS_PER_EVALUATION,
      Number(steps),
    );
    const prompt = createPrompt(goal);
    const options = { session, continue: true, maxTurns: 2 * STEPS_PER_EVALUATION };
    const { text } = await adapter.evaluate(prompt, options);
    answer = text;
    await session.flush();
    globalThis.gc?.();
    const items = session.get(historySlice).length;
    printLine({ is: "at", ledger: session.get(ledger), heap: memoryUsage().heapUsed, items });
  }
  printLine({ is: "done", ledger: session.get(ledger), answer });
}

function createPrompt(goal: number): Prompt {
  const note = new Tool({
    name: "note",
    description: "Notes that a step was taken.",
    params: z.object({ step: z.number() }),
    handler: async ({ step }, { session }) => {
      const { step: last } = session.get(ledger);
      if (step > last + 1)
        return ToolResult.error(`step ${step} came after step ${last}: a step is missing`);
      session.dispatch({ type: "StepNoted", step });
      return ToolResult.ok(null, `noted step ${step}: ${createReading(step)}`);
    },
  });
  const section = new MarkdownSection({
    key: "task",
    title: "Task",
    template: `Note every step, one after the other, up to step ${goal}.`,
    tools: [note],
  });
  return new Prompt(new PromptTemplate({ ns: "tests", key: "steps", sections: [section] }));
}

/** Creates half a kilobyte of text that compresses poorly. */
function createReading(step: number): string {
  let state = step;
  return Array.from({ length: 50 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state.toString(36);
  }).join(" ");
}

function printLine(line: ProgressLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
