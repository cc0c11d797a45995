import { OutputParseError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { createLazyField, deepFreeze } from "../base/freeze.ts";
import { quoteValue } from "../base/quote-value.ts";
import { type OutputContract, parseOutput } from "../prompt/output-contract.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { NativeTool } from "../tools/native-tool.ts";
import type { ProviderTool } from "../tools/provider-tool.ts";
import { combineOutputs } from "./calls/combine-outputs.ts";
import type { Progress } from "./evaluation.ts";
import type { ModelClient, Turn } from "./model-client.ts";
import type { HostedOutputs, PromptResponse } from "./prompt-response.ts";

/** The last turn of an evaluation, and what led to it. */
export interface FinalTurn {
  readonly turn: Turn;
  readonly progress: Progress;
  readonly client: ModelClient;
}

/** Outputs of hosted tools that are read when they are first used, because reading them cannot fail. */
export class OutputsOnDemand implements Iterable<readonly [name: string, output: unknown]> {
  readonly #read: () => Iterable<readonly [name: string, output: unknown]>;

  constructor(read: () => Iterable<readonly [name: string, output: unknown]>) {
    this.#read = read;
  }

  [Symbol.iterator](): Iterator<readonly [name: string, output: unknown]> {
    return this.#read()[Symbol.iterator]();
  }
}

/** Converts the last turn to the response for the caller. */
export async function createResponse<Output>(
  rendered: RenderedPrompt<Output>,
  { turn, progress, client }: FinalTurn,
): Promise<Omit<PromptResponse<Output>, "session" | "egress">> {
  const { promptName } = rendered;
  checkFinish(rendered, turn);
  return deepFreeze({
    promptName,
    text: turn.text,
    // Without a schema the template's output type is string: `Declared` in prompt/template.ts.
    output: rendered.output
      ? await parseAnswer(rendered, rendered.output, turn)
      : (turn.text as Output),
    hostedOutputs: readOnDemand(progress, client) ?? (await readHostedOutputs(progress, client)),
    hostedCalls: [...progress.hostedCalls],
    citations: progress.listCitations(),
    usage: progress.usage,
    ...progress.getCost(),
    finishReason: turn.finishReason,
    responseId: progress.responseId,
  });
}

/** Returns outputs that are read when they are first used, or `null` if they must be read now. */
function readOnDemand(
  { hasReplacedOutputs, isResumed }: Progress,
  client: ModelClient,
): HostedOutputs | null {
  if (hasReplacedOutputs || isResumed) return null;
  const outputs = client.hostedOutputs?.();
  if (!(outputs instanceof OutputsOnDemand)) return null;
  return new HostedOutputMap(() => Object.fromEntries(outputs));
}

/** Reads the output of each tool for all of its calls, with the changes of hooks and handlers. */
async function readHostedOutputs(
  { settledCalls, hasReplacedOutputs, isResumed }: Progress,
  client: ModelClient,
): Promise<HostedOutputs> {
  const reported = new Map(client.hostedOutputs?.());
  const isReported = client.hostedOutputs !== undefined && !hasReplacedOutputs;
  if (isReported && !isResumed) return createHostedOutputs(reported);
  if (!isReported) return createHostedOutputs(await combineOutputs(settledCalls, reported));
  // The client reports the tools that it knows of. Others were called before it was resumed.
  const combined = await combineOutputs(settledCalls, new Map());
  const others = [...combined].filter(([name]) => !reported.has(name));
  return createHostedOutputs([...reported, ...others]);
}

/** Throws for an incomplete answer, unless plain text is expected and there is some. */
function checkFinish({ promptName, output }: RenderedPrompt, turn: Turn): void {
  const { finishReason, text, stopReason = null, requestId } = turn;
  const isWhole = finishReason === "stop" || finishReason === "tool_calls";
  const isUsable = finishReason !== "error" && !output && text !== "";
  if (isWhole || isUsable) return;
  const isCutOff = finishReason === "length" && (stopReason === null || /token/.test(stopReason));
  const isOther = finishReason === "length" && !isCutOff;
  const why = isOther
    ? `the provider stopped it (${quoteValue(stopReason)}).`
    : incompleteReasons[finishReason];
  throw new PromptEvaluationError(`The answer is incomplete: ${why}`, {
    promptName,
    phase: "response",
    requestId,
    providerPayload: { finishReason, stopReason, text },
  });
}

const incompleteReasons = {
  length: "it reached the output token limit. Raise maxOutputTokens or request less output.",
  content_filter: "the provider's content filter blocked it. Rephrase the task.",
  error: "the provider reported an error.",
} as const satisfies Record<Exclude<Turn["finishReason"], "stop" | "tool_calls">, string>;

async function parseAnswer<Output>(
  { promptName }: RenderedPrompt<Output>,
  contract: OutputContract<Output>,
  { text }: Turn,
): Promise<Output> {
  const output = await parseOutput(contract, text);
  if (output.ok) return output.value;
  const cause = new OutputParseError(
    `The answer does not match the output schema: ${output.problem}`,
    text,
  );
  throw new PromptEvaluationError(cause.message, {
    promptName,
    phase: "parse",
    providerPayload: text,
    cause,
  });
}

/** Creates the map of hosted outputs. The last output of each name wins. */
export function createHostedOutputs(
  outputs: Iterable<readonly [name: string, output: unknown]>,
): HostedOutputs {
  const read = Object.fromEntries(outputs);
  return new HostedOutputMap(() => read);
}

const addOutputs = createLazyField<Readonly<Record<string, unknown>>>("outputs");

/** Not a `Map`, whose content can be changed even if the object is frozen. */
class HostedOutputMap implements HostedOutputs {
  /** Read once, when it is first used. A property, so that structured clones and logs contain the data. */
  declare readonly outputs: Readonly<Record<string, unknown>>;

  constructor(read: () => Record<string, unknown>) {
    Object.freeze(addOutputs(this, () => deepFreeze(read())));
  }

  get size(): number {
    return Object.keys(this.outputs).length;
  }

  get [Symbol.toStringTag](): string {
    return "HostedOutputs";
  }

  get<Config extends object, Output>(tool: HostedTool<Config, Output>): Output | undefined;
  get<Params, Result>(
    tool: NativeTool<Params, Result> | ProviderTool<Params, Result>,
  ): Result | undefined;
  get(name: string): unknown;
  get(key: string | NamedTool): unknown {
    return this.has(key) ? this.outputs[toName(key)] : undefined;
  }

  has(key: string | NamedTool): boolean {
    return Object.hasOwn(this.outputs, toName(key));
  }

  forEach(
    callback: (output: unknown, name: string, outputs: HostedOutputs) => void,
    thisArg?: unknown,
  ): void {
    for (const [name, output] of this) callback.call(thisArg, output, name, this);
  }

  entries(): MapIterator<[string, unknown]> {
    return new Map(Object.entries(this.outputs)).entries();
  }

  keys(): MapIterator<string> {
    return new Map(Object.entries(this.outputs)).keys();
  }

  values(): MapIterator<unknown> {
    return new Map(Object.entries(this.outputs)).values();
  }

  [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries();
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this);
  }
}

interface NamedTool {
  readonly name: string;
}

function toName(key: string | NamedTool): string {
  return typeof key === "string" ? key : key.name;
}
