import { evaluate } from "../adapter/evaluate.ts";
import { listParts } from "../adapter/list-parts.ts";
import { completeEvaluateOptions, type LoopOptions } from "../adapter/loop-options.ts";
import type { ModelClient, TurnRequest } from "../adapter/model-client.ts";
import type { ProviderAdapter } from "../adapter/provider-adapter.ts";
import { streamEvaluation } from "../adapter/stream/stream-evaluation.ts";
import type { ResponsePart } from "../adapter/turn-observer.ts";
import { checkKnownKeys, type KnownKeys, WinkError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { checkTurn, completeTurn, type ScriptedTurn } from "./scripted-turn.ts";

/**
 * One response of the model: a turn, an error to throw, or a function that returns a turn for the
 * request.
 */
export type ScriptStep =
  | ScriptedTurn
  | Error
  | ((request: TurnRequest) => ScriptedTurn | Promise<ScriptedTurn>);

/** Options of {@link ScriptedClient.with}. */
export interface ScriptedClientOptions
  extends Pick<LoopOptions, "clock" | "random" | "throttle" | "logger"> {
  /** Name of the adapter. @default "scripted" */
  readonly name?: string | undefined;
}

const clientKeys: KnownKeys<ScriptedClientOptions> = {
  clock: true,
  logger: true,
  name: true,
  random: true,
  throttle: true,
};

/** A model that answers from a script, with an adapter that evaluates prompts. */
export interface ScriptedClient extends Required<ProviderAdapter>, ModelClient {
  /** Every request so far, including failed ones. */
  readonly asked: readonly TurnRequest[];
  /** Returns the same model with other options. */
  with(options: ScriptedClientOptions): ScriptedClient;
}

/**
 * Creates a model that plays one step per request, of any evaluation. Throws if the script has no
 * more steps. It can resume: steps are counted from the first request of this client, so script only the
 * remaining turns, or use functions that return the turn for `request.turn`.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
 * import { scriptedClient } from "weakincentives/testing";
 *
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Say hello." });
 * const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "hello", sections: [task] }));
 * const model = scriptedClient({ text: "Hello!" });
 * const { text } = await model.evaluate(prompt, { session: new Session() }); // "Hello!"
 * ```
 */
export function scriptedClient(...script: readonly ScriptStep[]): ScriptedClient {
  for (const [index, step] of script.entries()) {
    if (isPlainObject(step)) checkTurn(step, `scriptedClient(script)[${index}]`);
  }
  return createClient(script, [], {});
}

function createClient(
  script: readonly ScriptStep[],
  asked: TurnRequest[],
  options: ScriptedClientOptions,
): ScriptedClient {
  const { name = "scripted", ...loop } = options;
  const client: ScriptedClient = {
    name,
    adapterName: name,
    asked,
    with: (more) => {
      checkKnownKeys(more, "scriptedClient.with(options)", clientKeys);
      return createClient(script, asked, { ...options, ...more });
    },
    evaluate: async (prompt, given) => {
      const options = completeEvaluateOptions(prompt, given);
      return await evaluate(prompt, client, { ...loop, ...options, adapter: client });
    },
    stream: (prompt, given) =>
      streamEvaluation(prompt, given, (options) => client.evaluate(prompt, options)),
    resume: ({ turn, delegatedCalls }) => ({
      ...turn,
      delegatedCalls: delegatedCalls.map((call) => ({ ...call, run: refuseToRun })),
    }),
    send: async (request) => {
      request.signal.throwIfAborted();
      const number = asked.push(request);
      const step = await playStep(script[number - 1], request, number);
      const turn = completeTurn(step, number);
      if (step.deltas) await deliverParts(listParts(turn, request.turn, step.deltas), request);
      return turn;
    },
  };
  return client;
}

/** A stored turn has no functions, so a delegated call that had not started cannot run. */
async function refuseToRun(): Promise<never> {
  throw new WinkError("A resumed script cannot run a delegated call. Start the evaluation again.");
}

async function playStep(
  step: ScriptStep | undefined,
  request: TurnRequest,
  number: number,
): Promise<ScriptedTurn> {
  if (step instanceof Error) throw step;
  const turn: unknown = typeof step === "function" ? await step(request) : step;
  if (isPlainObject(turn)) return checkTurn(turn, `scriptedClient(script)[${number - 1}]`);
  if (step)
    throw new WinkError(
      `Step ${number} of the script returned no turn. Return { text } or { toolCalls }.`,
    );
  throw new WinkError(`The script has no step for request ${number}. Add one.`);
}

/** Delivers parts to the readers of a stream, and waits for those that are far behind. */
async function deliverParts(
  parts: readonly ResponsePart[],
  { observer, signal }: TurnRequest,
): Promise<void> {
  if (!observer?.wantsParts) return;
  for (const part of parts) {
    signal.throwIfAborted();
    observer.onPart(part);
    await observer.backlog;
  }
}
