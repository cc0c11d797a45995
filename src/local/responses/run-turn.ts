import { readRecords } from "../../base/loose-fields.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import { toAction } from "../tools/tool-catalog.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { createAnnotations } from "../turn/create-annotations.ts";
import { readLastText } from "../turn/read-last-text.ts";
import type { TurnInput, TurnOutcome, TurnServices, TurnState } from "../turn/turn.ts";
import { createCompactionItem } from "./conversation/compaction.ts";
import { findForcedCall } from "./forced-call.ts";
import { useTool } from "./use-tool.ts";

/** Limits how often the model is called in one turn. */
const MAX_MODEL_CALLS = 100;

/** Calls the model and performs its actions, until it answers or calls a tool of the client. */
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
  let reportedItems = 0;
  const forced = createForcedActions(state);
  for (let modelCalls = 0; modelCalls < MAX_MODEL_CALLS; modelCalls++) {
    input.signal.throwIfAborted();
    const actions = forced.shift()?.() ?? (await callModel(state));
    let hasEnded = false;
    for (const action of actions) {
      if ("fail" in action)
        return { ...createOutcome(state, "failed"), error: toResponseError(action.fail, output) };
      hasEnded = (await performAction(action, state)) || hasEnded;
      const cut = truncateAnswer(state);
      for (; reportedItems < output.length; reportedItems++) onItem(output[reportedItems] ?? {});
      if (cut) return { ...createOutcome(state, "incomplete"), incompleteReason: cut };
    }
    if (hasEnded) return createOutcome(state, "completed");
  }
  const message = `The model was called ${MAX_MODEL_CALLS} times in one turn and only used tools. End the turn with an answer.`;
  throw new ApiProblem(500, message, { code: "model_error" });
}

/** Returns the actions of a request that forces a call. The model is not called for them. */
function createForcedActions({
  input,
  services,
  output,
}: TurnState): (() => readonly ModelAction[])[] {
  const call = findForcedCall(input, services.catalog);
  if (!call) return [];
  const { tool, args, forced } = call;
  return [
    () => [toAction(tool, args)],
    () => [{ say: forced.answer(output.at(-1) ?? {}) || "Done." }],
  ];
}

async function callModel({ input, services, output }: TurnState): Promise<readonly ModelAction[]> {
  const { model, instructions, tools, toolChoice, format, signal } = input;
  const items = output.length === 0 ? input.items : input.items.concat(output);
  const turn = services.modelRequests.count++;
  const text = readLastText(items) || (instructions ?? "");
  const { catalog: hostedTools } = services;
  const request = {
    model,
    instructions,
    items,
    tools,
    toolChoice,
    format,
    turn,
    text,
    hostedTools,
  };
  return await services.model.respond(request, { signal });
}

/** Performs one action. Returns whether it ends the turn. */
async function performAction(
  action: Exclude<ModelAction, { fail: unknown }>,
  state: TurnState,
): Promise<boolean> {
  const { services, input, output } = state;
  if ("say" in action) {
    output.push(createAnswer(action, state));
    return true;
  }
  if ("refuse" in action) {
    const content = [{ type: "refusal", refusal: action.refuse }];
    output.push(createAssistantMessage(state, content));
    return true;
  }
  if ("think" in action) output.push(createReasoning(action.think, state));
  else if ("call" in action) return callFunction(action.call, state);
  else if ("compact" in action) {
    output.push(createCompactionItem([...input.items, ...output], services));
    return true;
  } else if ("stall" in action) await services.sleep(action.stall, input.signal);
  else if ("drop" in action) throw new ConnectionDroppedError("The model dropped the connection.");
  else if ("expireContainer" in action) await expireContainers(state);
  else return await useTool(action, state);
  return false;
}

function createAnswer(
  { say, citations = [] }: Extract<ModelAction, { say: unknown }>,
  state: TurnState,
): WireItem {
  const text = typeof say === "string" ? say : JSON.stringify(say);
  const annotations = createAnnotations(text, citations, state);
  return createAssistantMessage(state, [{ type: "output_text", text, annotations, logprobs: [] }]);
}

function createAssistantMessage({ services }: TurnState, content: readonly object[]): WireItem {
  const id = services.ids.next("msg_");
  return { id, type: "message", status: "completed", role: "assistant", content };
}

function createReasoning(text: string, { services }: TurnState): WireItem {
  return {
    id: services.ids.next("rs_"),
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: services.sealer.seal({ text }),
  };
}

/** Calls a tool of the client. Unknown names are passed on too, because models make names up. */
function callFunction(
  { name, args, callId }: Extract<ModelAction, { call: unknown }>["call"],
  { input, services, output }: TurnState,
): boolean {
  const { tool, namespace } = findClientTool(input.tools, name);
  const isCalled = output.some(({ type }) => CALL_TYPES.has(type));
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

const CALL_TYPES: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);

/**
 * Returns the client's tool with this name, and its namespace. Returns an empty tool if the client offers only
 * other ones, and throws if it offers none.
 */
function findClientTool(tools: readonly WireItem[], name: string) {
  const all = tools.flatMap((tool) =>
    tool["type"] === "namespace"
      ? readRecords(tool, "tools").map((inner) => ({ tool: inner, namespace: tool["name"] }))
      : [{ tool, namespace: null }],
  );
  const callable = all.filter(({ tool }) => ["function", "custom"].includes(String(tool["type"])));
  const found = callable.find(({ tool }) => tool["name"] === name);
  if (found) return found;
  if (callable.length > 0) return { tool: {}, namespace: null };
  const text = `The model called the function '${name}', but the request offers no functions.`;
  throw new ApiProblem(500, text, { code: "model_error" });
}

async function expireContainers({ input, services, containerId }: TurnState): Promise<void> {
  const named = input.tools.flatMap(({ container }) =>
    typeof container === "string" ? [container] : [],
  );
  for (const id of new Set([...named, ...(containerId ? [containerId] : [])])) {
    await services.tools.containers.expire(id);
  }
}

/** Fails the request if a status is set and the turn has no output yet. Otherwise returns the response's error. */
function toResponseError(
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

/** Truncates the answer at `max_output_tokens`. Returns the reason if it did. */
function truncateAnswer({ input, output }: TurnState): string | null {
  const { maxOutputTokens } = input;
  if (maxOutputTokens === null) return null;
  let left = maxOutputTokens * 4;
  for (const [place, item] of output.entries()) {
    if (item["type"] !== "message") continue;
    const [part] = item["content"] as readonly WireItem[];
    const text = String(part?.["text"] ?? "");
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > left) {
      const truncated = new TextDecoder().decode(bytes.subarray(0, left)).replace(/\uFFFD$/, "");
      const content = [{ ...part, text: truncated, annotations: [] }];
      output[place] = { ...item, status: "incomplete", content };
      return "max_output_tokens";
    }
    left -= bytes.length;
  }
  return null;
}

function createOutcome(
  { output, containerId }: TurnState,
  status: TurnOutcome["status"],
): TurnOutcome {
  return { status, output, incompleteReason: null, error: null, containerId };
}
