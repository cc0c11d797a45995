import { OutputParseError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import { show } from "../base/show.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { readOutput } from "../prompt/structured-output.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Progress } from "./evaluation.ts";
import type { ModelClient, Turn } from "./model-client.ts";
import type { HostedOutputs, PromptResponse } from "./provider-adapter.ts";

export interface Answered {
  readonly turn: Turn;
  readonly progress: Progress;
  readonly client: ModelClient;
}

/** The last turn, as the caller gets it. */
export async function responseOf<Output>(
  rendered: RenderedPrompt<Output>,
  { turn, progress, client }: Answered,
): Promise<PromptResponse<Output>> {
  const { promptName } = rendered;
  checkFinish(rendered, turn);
  const outputs = [
    ...(client.hostedOutputs?.() ?? lastOutputs(progress)),
    ...progress.replacedOutputs,
  ];
  return deepFreeze({
    promptName,
    text: rendered.output ? null : turn.text,
    output: await outputOf(rendered, turn),
    hostedOutputs: hostedOutputs(outputs),
    hostedCalls: [...progress.hostedCalls],
    citations: progress.citations(),
    usage: progress.usage,
    ...progress.cost(),
    finishReason: turn.finishReason,
    responseId: progress.responseId,
  });
}

function lastOutputs({ hostedCalls }: Progress) {
  return hostedCalls.flatMap(({ name, output }) =>
    output === null ? [] : [[name, output] as const],
  );
}

/** An answer that was cut off or withheld is only an answer if text was asked for and there is some. */
function checkFinish({ promptName, output }: RenderedPrompt, turn: Turn): void {
  const { finishReason, text, stopReason = null, requestId } = turn;
  const isWhole = finishReason === "stop" || finishReason === "tool_calls";
  const isUsable = finishReason !== "error" && !output && text !== "";
  if (isWhole || isUsable) return;
  const isCutOff = finishReason === "length" && (stopReason === null || /token/.test(stopReason));
  const isOther = finishReason === "length" && !isCutOff;
  const why = isOther ? `the provider stopped it (${show(stopReason)})` : whyNot[finishReason];
  throw new PromptEvaluationError(`The answer is not whole: ${why}`, {
    promptName,
    phase: "response",
    requestId,
    providerPayload: { finishReason, stopReason, text },
  });
}

const whyNot = {
  length: "it was cut off at its length limit; raise maxOutputTokens or ask for less",
  content_filter: "the provider's content filter withheld it; rephrase the task",
  error: "the provider reported an error",
} as const satisfies Record<Exclude<Turn["finishReason"], "stop" | "tool_calls">, string>;

async function outputOf<Output>(rendered: RenderedPrompt<Output>, { text }: Turn): Promise<Output> {
  // Without a schema the template's output type is string: `Declared` in prompt/template.ts.
  if (!rendered.output) return text as Output;
  const output = await readOutput(rendered.output, text);
  if (output.ok) return output.value;
  const cause = new OutputParseError(
    `The answer does not fit the output schema: ${output.problem}`,
    text,
  );
  const { promptName } = rendered;
  throw new PromptEvaluationError(cause.message, {
    promptName,
    phase: "parse",
    providerPayload: text,
    cause,
  });
}

/** The last output of each name counts. */
export function hostedOutputs(
  outputs: Iterable<readonly [name: string, output: unknown]>,
): HostedOutputs {
  return new HostedOutputMap(outputs);
}

class HostedOutputMap extends Map<string, unknown> implements HostedOutputs {
  override get<Config extends object, Output>(tool: HostedTool<Config, Output>): Output | undefined;
  override get(name: string): unknown;
  override get(key: string | HostedTool): unknown {
    return super.get(typeof key === "string" ? key : key.name);
  }
}
