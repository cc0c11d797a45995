import type {
  AskedCall,
  FinishReason,
  HostedCall,
  ToolCall,
  Turn,
} from "../../adapter/model-client.ts";
import { messageOf } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { DEEPEST, isTooDeep } from "../../base/json.ts";
import { maybeTextAt, recordAt, textAt } from "../../base/reading.ts";
import { scrubbed, scrubbedText } from "../../base/scrubbed.ts";
import { show } from "../../base/show.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Codecs, HostedToolCodec } from "../codecs/codec.ts";
import { refusalIn, said } from "../codecs/said.ts";
import { responseErrorOf } from "../errors/evaluation-error.ts";
import { unprinted } from "../history/item-text.ts";
import { usageIn } from "../http/result.ts";
import type { WireItem } from "../wire.ts";

/** What is needed to read a response. */
export interface ReadingOptions {
  readonly rendered: RenderedPrompt;
  readonly codecs: Codecs;
  readonly requestId: string | null;
  /** What errors may not say. */
  readonly secrets: readonly string[];
}

/** A response as a turn, with its items as they came. Throws where there is no answer in it. */
export function readResponse(
  value: unknown,
  options: ReadingOptions,
): { readonly turn: Turn; readonly items: readonly WireItem[] } {
  const { requestId } = options;
  const response = checkResponse(value, options);
  const items = itemsOf(response, options);
  const { text, citations } = said(items);
  const refusal = refusalIn(items);
  const toolCalls = toolCallsIn(items);
  const order = new Map<object, number>(items.map((item, index) => [item, index]));
  const inOrder = <Call extends { readonly raw: object }>(calls: readonly Call[]) =>
    calls.toSorted((one, other) => (order.get(one.raw) ?? 0) - (order.get(other.raw) ?? 0));
  const turn: Turn = {
    text: text === "" && refusal !== null ? refusal : text,
    toolCalls,
    hostedCalls: inOrder(eachTool(options, (codec, tool) => callsOf(codec, tool, items))),
    askedCalls: inOrder(eachTool(options, (codec, tool) => askedOf(codec, tool, items))),
    citations,
    usage: usageIn(response),
    finishReason: finishReasonOf(response, { isRefused: refusal !== null, toolCalls }),
    stopReason: maybeTextAt(recordAt(response, "incomplete_details"), "reason"),
    responseId: maybeTextAt(response, "id"),
    requestId,
    model: maybeTextAt(response, "model"),
  };
  if (turn.finishReason !== "stop" || turn.text !== "") return { turn, items };
  if (items.length === 0) {
    throw unusable("The provider answered with nothing: try again, or rephrase", options, response);
  }
  if (!items.some(({ type }) => type === "function_call")) return { turn, items };
  const message = "The model called a function without whole arguments or without an id: try again";
  throw unusable(message, options, response);
}

interface ToolsToRead {
  readonly rendered: Pick<RenderedPrompt, "promptName" | "hostedTools">;
  readonly codecs: Codecs;
}

/** Does something for every hosted tool; what a codec throws is a failure to parse. */
export function eachTool<Result>(
  { rendered, codecs }: ToolsToRead,
  work: (codec: HostedToolCodec, tool: HostedTool) => readonly Result[],
): readonly Result[] {
  return rendered.hostedTools.flatMap((tool) => {
    const codec = codecs.get(tool.kind);
    if (!codec) return [];
    try {
      return work(codec, tool);
    } catch (cause) {
      const message = `The codec of "${tool.kind}" could not read what came back: ${messageOf(cause)}`;
      const { promptName } = rendered;
      throw new PromptEvaluationError(message, { promptName, phase: "parse", cause });
    }
  });
}

function checkResponse(value: unknown, options: ReadingOptions): WireItem {
  const { rendered, requestId, secrets } = options;
  if (!isPlainObject(value)) {
    throw unusable(
      `The provider answered with ${show(value)}, which is no response`,
      options,
      value,
    );
  }
  const status = maybeTextAt(value, "status");
  const error = recordAt(value, "error");
  const hasError = Object.keys(error).length > 0 || typeof value["error"] === "string";
  if (hasError && (status === null || status === "failed" || !Array.isArray(value["output"]))) {
    const { promptName } = rendered;
    const said = typeof value["error"] === "string" ? { message: value["error"] } : error;
    throw responseErrorOf(said, { promptName, requestId, payload: value, secrets });
  }
  const isFinished = status === null || status === "completed" || status === "incomplete";
  if (isFinished) return value;
  throw unusable(`The response is ${show(status)}, not completed`, options, value);
}

function itemsOf(response: WireItem, options: ReadingOptions): readonly WireItem[] {
  const { output } = response;
  if (Array.isArray(output)) return output.filter((item) => isItem(item, options)).map(unprinted);
  throw unusable(`The response's output is ${show(output)}, not a list`, options, response);
}

/** What is no object is left out; what could not be sent back makes the whole useless. */
function isItem(item: unknown, options: ReadingOptions): item is WireItem {
  if (!isPlainObject(item)) return false;
  if (!isTooDeep(item)) return true;
  const [type, id] = [maybeTextAt(item, "type"), maybeTextAt(item, "id")];
  const message = `An item of the type ${show(type)} cannot be sent back: it is nested more than ${DEEPEST} levels deep`;
  throw unusable(message, options, { type, id });
}

/** The calls to run here. A second one of the same id could not be answered. */
function toolCallsIn(items: readonly WireItem[]): readonly ToolCall[] {
  const calls = new Map<string, ToolCall>();
  for (const call of items.flatMap(toolCallOf)) {
    if (!calls.has(call.callId)) calls.set(call.callId, call);
  }
  return [...calls.values()];
}

/** A call that was cut off has no whole arguments and is not run. */
function toolCallOf(item: WireItem): readonly ToolCall[] {
  if (item["type"] !== "function_call" || item["status"] === "incomplete") return [];
  const name = maybeTextAt(item, "name");
  const callId = maybeTextAt(item, "call_id");
  if (name === null || !callId) return [];
  const given = item["arguments"];
  return [{ name, callId, arguments: typeof given === "string" ? given : jsonOf(given) }];
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value ?? {});
}

function callsOf(
  codec: HostedToolCodec,
  tool: HostedTool,
  items: readonly WireItem[],
): readonly HostedCall[] {
  if (codec.calls) return codec.calls(items, tool);
  const output = codec.parseOutput(items, tool);
  if (output === null || output === undefined) return [];
  const raw = callItem(codec.kind, items) ?? {};
  const { name, kind } = tool;
  const callId = textAt(raw, "call_id") || textAt(raw, "id");
  return [{ name, kind, callId, params: raw, output, success: true, message: "OK", raw }];
}

/** The codec does not say which item is its call: the one that is called like its kind, or a call. */
function callItem(kind: string, items: readonly WireItem[]): WireItem | undefined {
  const calls = items.filter((item) => textAt(item, "type").endsWith("_call"));
  return calls.find((item) => item["type"] === `${kind}_call`) ?? calls[0];
}

function askedOf(
  codec: HostedToolCodec,
  tool: HostedTool,
  items: readonly WireItem[],
): readonly AskedCall[] {
  return codec.asked?.(items, tool) ?? [];
}

function finishReasonOf(
  response: WireItem,
  { isRefused, toolCalls }: { isRefused: boolean; toolCalls: readonly ToolCall[] },
): FinishReason {
  if (response["status"] === "incomplete") {
    const reason = recordAt(response, "incomplete_details")["reason"];
    return reason === "content_filter" ? "content_filter" : "length";
  }
  if (toolCalls.length > 0) return "tool_calls";
  return isRefused ? "content_filter" : "stop";
}

function unusable(
  message: string,
  { rendered, requestId, secrets }: ReadingOptions,
  payload: unknown,
): PromptEvaluationError {
  const { promptName } = rendered;
  const providerPayload = scrubbed(payload, secrets);
  const details = { promptName, requestId, phase: "response", providerPayload } as const;
  return new PromptEvaluationError(scrubbedText(message, secrets), details);
}
