import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { ProviderAdapter } from "../../../../src/adapter/provider-adapter.ts";
import { AgentLoop, type LoopLimits } from "../../../../src/fleet/index.ts";
import { definePrompt, Tool, ToolResult } from "../../../../src/index.ts";
import { type ScriptStep, scriptedClient } from "../../../../src/testing/index.ts";
import type { EffectsFile } from "./effects-file.ts";

/** Number of turns with calls. One more has the answer. */
export const STEPS = 6;

/** Options of {@link createStormLoop}. */
export interface StormLoopOptions {
  /** @default the script, which pays for its turns in the effects' file */
  readonly adapter?: () => ProviderAdapter;
  /** Milliseconds that a call of `charge` takes, at most, and 40 % of it at least. @default 30 */
  readonly chargeMs?: number;
  readonly limits?: LoopLimits;
}

/** A request of a storm. */
export interface StormRequest {
  readonly run: number;
  readonly steps: number;
}

/** Returns the answer to a request, with or without kills. */
export function getExpectedAnswer({ run, steps }: StormRequest): string {
  return `Run ${run} took ${steps} steps.`;
}

/** Creates the loop of a storm: each turn calls `charge`, which must never run twice, and `note`, which may. */
export function createStormLoop(
  effects: EffectsFile,
  { adapter, chargeMs = 30, limits }: StormLoopOptions = {},
) {
  const params = z.object({ run: z.int(), step: z.int() });
  const charge = new Tool({
    name: "charge",
    description: "Charges for a step. Never call it twice for a step.",
    params,
    handler: async ({ run, step }, { callKey: key }) => {
      await sleep(chargeMs * (0.2 + Math.random() * 0.3));
      effects.add({ what: "charge", run, step, key });
      await sleep(chargeMs * (0.2 + Math.random() * 0.3));
      return ToolResult.ok(null, `charged step ${step}`);
    },
  });
  const note = new Tool({
    name: "note",
    description: "Notes a step.",
    params,
    effects: "idempotent",
    handler: async ({ run, step }, { callKey: key }) => {
      await sleep(Math.random() * 5);
      effects.add({ what: "note", run, step, key });
      await sleep(Math.random() * 5);
      return ToolResult.ok(null, `noted step ${step}`);
    },
  });
  return new AgentLoop<StormRequest, string, string, StormRequest>({
    name: "storm",
    request: z.object({ run: z.int(), steps: z.int() }),
    prepare: ({ run, steps }) =>
      definePrompt({
        name: "storm",
        instructions: `Take every step of run ${run}, one after the other, up to step ${steps}.`,
        tools: [charge, note],
      }),
    adapter: adapter ?? (() => createScript(effects)),
    ...(limits && { limits }),
  });
}

/** Returns the request that a prompt was prepared for. */
export function parseRequest(text: string): StormRequest {
  const [, run, steps] = /of run (\d+), one after the other, up to step (\d+)/.exec(text) ?? [];
  return { run: Number(run), steps: Number(steps) };
}

/** A model that goes by the number of the turn, in every process. */
function createScript(effects: EffectsFile): ProviderAdapter {
  const step: ScriptStep = async ({ turn, rendered }) => {
    const request = parseRequest(rendered.text);
    const { run, steps } = request;
    effects.add({ what: "turn", run, turn });
    await sleep(10 + Math.random() * 30);
    if (turn > steps) return { text: getExpectedAnswer(request) };
    const calls = ["charge", "note"].map((name) => ({
      name,
      callId: `call_${name}_${turn}`,
      arguments: { run, step: turn },
    }));
    return { toolCalls: calls, usage: { inputTokens: 100, outputTokens: 10 } };
  };
  return scriptedClient(...Array.from({ length: 100_000 }, () => step));
}
