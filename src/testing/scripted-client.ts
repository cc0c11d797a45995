import { evaluate } from "../adapter/evaluate.ts";
import type { LoopOptions } from "../adapter/loop-options.ts";
import type { ModelClient, TurnRequest } from "../adapter/model-client.ts";
import type { ProviderAdapter } from "../adapter/provider-adapter.ts";
import { WinkError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { type ScriptedTurn, turnOf } from "./scripted-turn.ts";

/** What the model does at a turn: says it, decides it from what it is asked, or fails. */
export type ScriptStep =
  | ScriptedTurn
  | Error
  | ((request: TurnRequest) => ScriptedTurn | Promise<ScriptedTurn>);

/** What a scripted client runs prompts with. */
export interface ScriptedClientOptions
  extends Pick<LoopOptions, "clock" | "random" | "throttle" | "logger"> {
  /** What it calls itself. @default "scripted" */
  readonly name?: string | undefined;
}

/** A model that answers from a script, and an adapter that runs prompts on it. */
export interface ScriptedClient extends ProviderAdapter, ModelClient {
  /** What it was asked, request by request; a failed one counts. */
  readonly asked: readonly TurnRequest[];
  /** The same model with other options. */
  with(options: ScriptedClientOptions): ScriptedClient;
}

/**
 * Plays one step a request, whichever evaluation asks; the script's end is an error.
 *
 * @example
 * const model = scriptedClient(
 *   { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
 *   { text: "Three." },
 * );
 * await model.evaluate(prompt, { session });
 */
export function scriptedClient(...script: readonly ScriptStep[]): ScriptedClient {
  return clientOf(script, [], {});
}

function clientOf(
  script: readonly ScriptStep[],
  asked: TurnRequest[],
  options: ScriptedClientOptions,
): ScriptedClient {
  const { name = "scripted", ...loop } = options;
  const client: ScriptedClient = {
    name,
    adapterName: name,
    asked,
    with: (more) => clientOf(script, asked, { ...options, ...more }),
    evaluate: (prompt, given) => evaluate(prompt, client, { ...loop, ...given, adapter: client }),
    send: async (request) => {
      request.signal.throwIfAborted();
      const number = asked.push(request);
      return turnOf(await played(script[number - 1], request, number), number);
    },
  };
  return client;
}

async function played(
  step: ScriptStep | undefined,
  request: TurnRequest,
  number: number,
): Promise<ScriptedTurn> {
  if (step instanceof Error) throw step;
  const turn: unknown = typeof step === "function" ? await step(request) : step;
  if (isPlainObject(turn)) return turn;
  if (step)
    throw new WinkError(
      `Step ${number} of the script gave no turn: return { text } or { toolCalls }`,
    );
  throw new WinkError(`The script ends before request ${number}: add a step that answers it`);
}
