/** Loops on scripted models, for `wink fleet worker`. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { Tool, ToolResult } from "../../../src/index.ts";
import { createLoop } from "./fleet-fixture.ts";

const note = new Tool({
  name: "note",
  description: "Notes a text.",
  params: z.object({ text: z.string() }),
  effects: "idempotent",
  handler: async ({ text }) => ToolResult.ok(`noted ${text}`),
});

const charge = new Tool({
  name: "charge",
  description: "Charges an amount.",
  params: z.object({ amount: z.number() }),
  needsApproval: true,
  handler: async ({ amount }) => ToolResult.ok(`charged ${amount}`),
});

const usage = { inputTokens: 1_200, outputTokens: 34 };

/** Notes a text and answers. */
export const review = createLoop({
  name: "review",
  version: "3",
  tools: [note],
  model: ({ turn }) =>
    turn === 1
      ? { text: "I note it.", toolCalls: [{ name: "note", arguments: { text: "a" } }], usage }
      : { text: "All\u001b[31m good.", usage },
});

/** Makes two calls that wait for approval, and answers. */
const pay = createLoop({
  name: "pay",
  tools: [charge],
  model: ({ turn }) => {
    if (turn > 1) return { text: "Paid.", usage };
    const calls = [30, 40].map((amount) => ({ name: "charge", arguments: { amount } }));
    return { toolCalls: calls, usage };
  },
});

/** Fails at its only attempt. */
const poison = createLoop({
  name: "poison",
  limits: { attempts: 1 },
  prepare: () => {
    throw new Error("no route\nto \u001b[31mhost");
  },
});

/** Waits for its model until it is aborted. */
const slow = createLoop({
  name: "slow",
  model: async ({ signal }) => {
    await sleep(10 * 60_000, undefined, { signal });
    return { text: "late" };
  },
});

/** Calls a tool that keeps running after it is aborted, so that a worker drains for its whole grace time. */
const stubborn = createLoop({
  name: "stubborn",
  tools: [
    new Tool({
      name: "wait",
      description: "Waits, and ignores its signal.",
      params: z.object({}),
      handler: async () => {
        process.stderr.write("The tool waits.\n");
        await sleep(10 * 60_000);
        return ToolResult.ok("late");
      },
    }),
  ],
  model: () => ({ toolCalls: [{ name: "wait", arguments: {} }], usage }),
});

export const others = [pay, poison, slow, stubborn];
