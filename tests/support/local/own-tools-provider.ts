import { onTestFinished } from "vitest";
import {
  LocalProvider,
  type LocalProviderOptions,
  type LocalTool,
  type ModelScript,
  scriptedModel,
} from "weakincentives/local";
import { hostSandbox } from "../host-sandbox.ts";
import { asking } from "./stage.ts";

/** A provider with tools of a user's, on a socket, for one test. */
export async function startProvider(
  tools: readonly LocalTool[],
  script: ModelScript,
  options: LocalProviderOptions = {},
) {
  const model = scriptedModel(script);
  const provider = new LocalProvider({ model, sandbox: hostSandbox(), tools, ...options });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  return { provider, url, ...asking(globalThis.fetch, url) };
}

/** The smallest tool: rolls as many as it has sides, which is not much of a roll. */
export const dice: LocalTool<{ sides: number }> = {
  kind: "dice",
  items: { dice_call: {} },
  run: ({ args }) => ({ sides: args.sides, rolled: args.sides }),
};

/** The action that rolls the dice. */
export const roll = { use: { kind: "dice", args: { sides: 6 } } };
