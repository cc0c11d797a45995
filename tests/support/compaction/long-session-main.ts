/**
 * A process that goes on with a long session until all steps are taken, and says how far it is:
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

/** How far the session is; a step that is taken again after a crash counts once. */
const ledger = defineSlice("ledger", {
  initial: { step: 0, sum: 0 },
  on: {
    StepNoted: (kept, { step }) =>
      step === kept.step + 1 ? { step, sum: ledgerSum(kept.sum, step) } : kept,
  },
});

/** Tells whether every step was counted, once and in order. */
export function ledgerSum(sum: number, step: number): number {
  return (sum * 31 + step) % 1_000_003;
}

/** One evaluation is this many steps; the prompt says up to which. */
export const STEPS_AN_EVALUATION = 50;
export const THRESHOLD_TOKENS = 16_000;

/** What the process says, a line each. */
export type Said =
  | {
      readonly is: "at";
      readonly ledger: { readonly step: number; readonly sum: number };
      /** After garbage was collected. */
      readonly heap: number;
      /** Of the stored history. */
      readonly items: number;
    }
  | { readonly is: "compacted"; readonly tokens: number }
  | { readonly is: "done"; readonly ledger: object; readonly answer: string };

if (import.meta.main) {
  const [, , url = "", directory = "", id = "", steps = ""] = process.argv;
  const store = new JsonlSessionStore(directory, { onRepair: () => {} });
  const slices = [ledger, historySlice, compactionSlice];
  const isThere = (await store.list()).includes(id);
  const session = isThere ? await Session.open(store, id, slices) : new Session({ store, id });
  for (const slice of slices) session.register(slice);
  session.bus.subscribe("ContextCompacted", ({ tokensBefore: tokens }) =>
    say({ is: "compacted", tokens }),
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
    const goal = Math.min(step - (step % STEPS_AN_EVALUATION) + STEPS_AN_EVALUATION, Number(steps));
    const prompt = promptUpTo(goal);
    const options = { session, continue: true, maxTurns: 2 * STEPS_AN_EVALUATION };
    const { text } = await adapter.evaluate(prompt, options);
    answer = text ?? "";
    await session.flush();
    globalThis.gc?.();
    const items = session.get(historySlice).length;
    say({ is: "at", ledger: session.get(ledger), heap: memoryUsage().heapUsed, items });
  }
  say({ is: "done", ledger: session.get(ledger), answer });
}

function promptUpTo(goal: number): Prompt {
  const note = new Tool({
    name: "note",
    description: "Notes that a step was taken.",
    params: z.object({ step: z.number() }),
    handler: async ({ step }, { session }) => {
      const { step: last } = session.get(ledger);
      if (step > last + 1) return ToolResult.error(`step ${step} comes after ${last}: one is lost`);
      session.dispatch({ type: "StepNoted", step });
      return ToolResult.ok(null, `noted step ${step}: ${reading(step)}`);
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

/** Half a kilobyte that does not pack well. */
function reading(step: number): string {
  let state = step;
  return Array.from({ length: 50 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state.toString(36);
  }).join(" ");
}

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}
