import { recordsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import { toAction } from "../tools/tool-catalog.ts";
import { annotationsOf } from "../turn/annotations.ts";
import { Dropped } from "../turn/dropped.ts";
import { lastText } from "../turn/last-text.ts";
import type { TurnInput, TurnOutcome, TurnServices, TurnState } from "../turn/turn.ts";
import { compactionItem } from "./conversation/compaction.ts";
import { findForcedCall } from "./forced-call.ts";
import { useTool } from "./use-tool.ts";

/** A model that only ever uses tools is asked no more often than this. */
const MOST_ASKS = 100;

/** Asks the model, does what it says, and asks again until it speaks or hands over to the client. */
export async function runTurn(
  input: TurnInput,
  services: TurnServices,
  onItem: (item: WireItem) => void = () => {},
): Promise<TurnOutcome> {
  const output: WireItem[] = [];
  const state: TurnState = {
    input,
    services,
    output,
    hits: [],
    files: [],
    containerId: null,
    toolCalls: 0,
  };
  let told = 0;
  const forced = forcedActions(state);
  for (let asks = 0; asks < MOST_ASKS; asks++) {
    input.signal.throwIfAborted();
    const actions = forced.shift()?.() ?? (await ask(state));
    let isOver = false;
    for (const action of actions) {
      if ("fail" in action)
        return { ...ended(state, "failed"), error: failureOf(action.fail, output) };
      isOver = (await perform(action, state)) || isOver;
      const cut = cutOff(state);
      for (; told < output.length; told++) onItem(output[told] ?? {});
      if (cut) return { ...ended(state, "incomplete"), incompleteReason: cut };
    }
    if (isOver) return ended(state, "completed");
  }
  const message = `The model used tools ${MOST_ASKS} times and said nothing.`;
  throw new ApiProblem(500, message, { code: "model_error" });
}

/** The actions of a request that leaves the model no choice; it is not asked for them. */
function forcedActions({ input, services, output }: TurnState): (() => readonly ModelAction[])[] {
  const call = findForcedCall(input, services.catalog);
  if (!call) return [];
  const { tool, args, forced } = call;
  return [
    () => [toAction(tool, args)],
    () => [{ say: forced.answer(output.at(-1) ?? {}) || "Done." }],
  ];
}

async function ask({ input, services, output }: TurnState): Promise<readonly ModelAction[]> {
  const { model, instructions, tools, toolChoice, format, signal } = input;
  const items = output.length === 0 ? input.items : input.items.concat(output);
  const turn = services.asked.count++;
  const text = lastText(items) || (instructions ?? "");
  const { catalog: hostedTools } = services;
  const asked = { model, instructions, items, tools, toolChoice, format, turn, text, hostedTools };
  return await services.model.respond(asked, { signal });
}

/** Does one thing; says whether the turn is over by it. */
async function perform(
  action: Exclude<ModelAction, { fail: unknown }>,
  state: TurnState,
): Promise<boolean> {
  const { services, input, output } = state;
  if ("say" in action) {
    output.push(message(action, state));
    return true;
  }
  if ("refuse" in action) {
    const content = [{ type: "refusal", refusal: action.refuse }];
    output.push(assistantMessage(state, content));
    return true;
  }
  if ("think" in action) output.push(reasoning(action.think, state));
  else if ("call" in action) return callFunction(action.call, state);
  else if ("compact" in action) {
    output.push(compactionItem([...input.items, ...output], services));
    return true;
  } else if ("stall" in action) await services.sleep(action.stall, input.signal);
  else if ("drop" in action) throw new Dropped("the model dropped the connection");
  else if ("expireContainer" in action) await expire(state);
  else return await useTool(action, state);
  return false;
}

function message(
  { say, citations = [] }: Extract<ModelAction, { say: unknown }>,
  state: TurnState,
): WireItem {
  const text = typeof say === "string" ? say : JSON.stringify(say);
  const annotations = annotationsOf(text, citations, state);
  return assistantMessage(state, [{ type: "output_text", text, annotations, logprobs: [] }]);
}

function assistantMessage({ services }: TurnState, content: readonly object[]): WireItem {
  const id = services.ids.next("msg_");
  return { id, type: "message", status: "completed", role: "assistant", content };
}

function reasoning(text: string, { services }: TurnState): WireItem {
  return {
    id: services.ids.next("rs_"),
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: services.sealer.seal({ text }),
  };
}

/** A name that the client does not offer reaches it all the same: models make names up. */
function callFunction(
  { name, args, callId }: Extract<ModelAction, { call: unknown }>["call"],
  { input, services, output }: TurnState,
): boolean {
  const { tool, namespace } = offered(input.tools, name);
  const isCalled = output.some(({ type }) => CALLS.has(type));
  if (isCalled && !input.parallelToolCalls) return true;
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const call = { status: "completed", name, call_id: callId ?? services.ids.next("call_") };
  const within = namespace === null ? {} : { namespace };
  output.push(
    tool["type"] === "custom"
      ? { id: services.ids.next("ctc_"), type: "custom_tool_call", ...call, ...within, input: text }
      : {
          id: services.ids.next("fc_"),
          type: "function_call",
          ...call,
          ...within,
          arguments: text,
        },
  );
  return true;
}

const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);

/** The tool of that name, and what it is in; any that can be called where there is none of it. */
function offered(tools: readonly WireItem[], name: string) {
  const all = tools.flatMap((tool) =>
    tool["type"] === "namespace"
      ? recordsAt(tool, "tools").map((inner) => ({ tool: inner, namespace: tool["name"] }))
      : [{ tool, namespace: null }],
  );
  const callable = all.filter(({ tool }) => ["function", "custom"].includes(String(tool["type"])));
  const found = callable.find(({ tool }) => tool["name"] === name);
  if (found) return found;
  if (callable.length > 0) return { tool: {}, namespace: null };
  const text = `The model called the function '${name}', and the request offers none.`;
  throw new ApiProblem(500, text, { code: "model_error" });
}

async function expire({ input, services, containerId }: TurnState): Promise<void> {
  const named = input.tools.flatMap(({ container }) =>
    typeof container === "string" ? [container] : [],
  );
  for (const id of new Set([...named, ...(containerId ? [containerId] : [])])) {
    await services.tools.containers.expire(id);
  }
}

/** Without a status, or when something was done, it is the response that fails, and not the request. */
function failureOf(
  {
    status,
    code,
    message: text = "The model failed.",
  }: Extract<ModelAction, { fail: unknown }>["fail"],
  output: readonly WireItem[],
) {
  if (status === undefined || output.length > 0)
    return { code: code ?? "server_error", message: text };
  const tooMany = code === "insufficient_quota" ? code : "requests";
  const type = status === 429 ? tooMany : undefined;
  throw new ApiProblem(status, text, { code: code ?? null, type });
}

/** A text that is longer than it may be is cut, and with it the turn. */
function cutOff({ input, output }: TurnState): string | null {
  const { maxOutputTokens } = input;
  if (maxOutputTokens === null) return null;
  let left = maxOutputTokens * 4;
  for (const [place, item] of output.entries()) {
    if (item["type"] !== "message") continue;
    const [part] = item["content"] as readonly WireItem[];
    const text = String(part?.["text"] ?? "");
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > left) {
      const kept = new TextDecoder().decode(bytes.subarray(0, left)).replace(/\uFFFD$/, "");
      const content = [{ ...part, text: kept, annotations: [] }];
      output[place] = { ...item, status: "incomplete", content };
      return "max_output_tokens";
    }
    left -= bytes.length;
  }
  return null;
}

function ended({ output, containerId }: TurnState, status: TurnOutcome["status"]): TurnOutcome {
  return { status, output, incompleteReason: null, error: null, containerId };
}
