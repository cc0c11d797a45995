import { onTestFinished } from "vitest";
import {
  LocalProvider,
  type LocalProviderOptions,
  type LocalTool,
  type LocalToolItem,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import { hostSandbox } from "../host-sandbox.ts";
import { createRequester } from "./provider-fixture.ts";

/** Starts a provider with custom tools on a socket, for one test. */
export async function startProvider(
  tools: readonly LocalTool[],
  script: ModelScript,
  options: LocalProviderOptions = {},
) {
  const model = scriptedModel(script);
  const provider = new LocalProvider({ model, sandbox: hostSandbox(), tools, ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  return { provider, url, ...createRequester(globalThis.fetch, url) };
}

/** A minimal tool: it rolls the number of its sides. */
export const dice: LocalTool<{ sides: number }> = {
  kind: "dice",
  items: { dice_call: {} },
  run: ({ args }) => ({ sides: args.sides, rolled: args.sides }),
};

/** Creates a dice tool with other options. */
export function createDice(more: Partial<LocalTool>, item: LocalToolItem = {}): LocalTool {
  return { ...dice, items: { dice_call: item }, ...more } as LocalTool;
}

/** The action that rolls the dice. */
export const roll = { use: { kind: "dice", args: { sides: 6 } } };
