import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import { splitIntoChunks } from "../split-into-chunks.ts";
import { StepFault } from "../step-fault.ts";
import { toAction } from "../tools/tool-catalog.ts";
import { type AnswerPart, callModel, type ModelRequest } from "../turn/call-model.ts";
import { createAnnotations } from "../turn/create-annotations.ts";
import { readLastText } from "../turn/read-last-text.ts";
import type { TurnInput, TurnOutcome, TurnServices, TurnState } from "../turn/turn.ts";
import { checkStep } from "./check-step.ts";
import { createCompactionItem } from "./conversation/compaction.ts";
import { createMessageItem, createTextMessage } from "./create-message-item.ts";
import { findForcedCall } from "./forced-call.ts";
import { LiveAnswer } from "./live-answer.ts";
import { findClientTool } from "./offered-tools.ts";
import { type TurnListener, TurnProgress } from "./turn-progress.ts";
import { useTool } from "./use-tool.ts";

/** Limits how often the model is called in one turn. */
const MAX_MODEL_CALLS = 100;

/** Calls the model and performs its actions, until it answers or calls a tool of the client. */
export async function runTurn(
  input: TurnInput,
  services: TurnServices,
  listener: TurnListener = {},
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
    messageId: null,
    begin: (call) => progress.reportStart(call),
  };
  const progress = new TurnProgress(output, listener);
  for (const createActions of createForcedActions(state)) {
    await progress.begin();
    const outcome = await performStep(createActions(), state, progress);
    if (outcome) return outcome;
  }
  for (let modelCalls = 0; modelCalls < MAX_MODEL_CALLS; modelCalls++) {
    input.signal.throwIfAborted();
    const step = services.steps.take();
    try {
      const actions = await callModelLive(createModelRequest(state, step), state, progress);
      checkStep(actions, state, progress);
      if (!progress.hasBegun) rejectRequest(actions, output);
      const begun = progress.begin();
      if (begun) await begun;
      const outcome = await performStep(actions, state, progress);
      if (outcome) return outcome;
    } catch (error) {
      throw services.steps.fail(step, error);
    }
  }
  const message = `The model was called ${MAX_MODEL_CALLS} times in one turn and only used tools. End the turn with an answer.`;
  throw new StepFault(message);
}

/**
 * Calls the model, and reports its answer while it writes. The turn begins when the model has begun to answer, or
 * after some seconds, so that clients and proxies do not take it for a dead connection.
 */
async function callModelLive(
  request: ModelRequest,
  state: TurnState,
  progress: TurnProgress,
): Promise<readonly ModelAction[]> {
  const { input, services, output } = state;
  const live = progress.hearsText
    ? new LiveAnswer(state, progress, (thought) => output.push(createReasoning(thought, state)))
    : null;
  const answered = new AbortController();
  const waiting = progress.awaitsBeginning
    ? services
        .sleep(BEGIN_AFTER_MS, answered.signal, { background: true })
        .then(() => progress.begin())
        .catch(() => {}) // the model has answered
    : null;
  try {
    const onPart = live ? (part: AnswerPart) => live.add(part) : undefined;
    const actions = await callModel(services.model, request, { ...input, onPart });
    return live ? live.finish(actions) : actions;
  } finally {
    answered.abort(ANSWERED);
    await waiting;
  }
}

/** Why the wait ends. Without a reason, `abort` creates an error, which costs more. */
const ANSWERED = "The model has answered";

/** After this time without an answer, a stream begins. */
const BEGIN_AFTER_MS = 10_000;

/** Performs the actions of one step. Returns the outcome if the turn has ended. */
async function performStep(
  actions: readonly ModelAction[],
  state: TurnState,
  progress: TurnProgress,
): Promise<TurnOutcome | null> {
  let hasEnded = false;
  for (const action of actions) {
    if ("fail" in action) {
      rejectRequest([action], state.output);
      return createFailure(action.fail, state);
    }
    if ("failInStream" in action) {
      const problem = toProblem({ status: 500, ...action.failInStream });
      return { ...createFailure(action.failInStream, state), problem };
    }
    if ("drop" in action) progress.drop();
    else {
      if ("say" in action && action.everyMs) await writeSlowly(action, state, progress);
      hasEnded = (await performAction(action, state)) || hasEnded;
    }
    const cut = truncateAnswer(state);
    if (progress.isHeard) await progress.reportItems();
    if (cut) return { ...createOutcome(state, "incomplete"), incompleteReason: cut };
  }
  return hasEnded ? createOutcome(state, "completed") : null;
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

function createModelRequest({ input, services, output }: TurnState, turn: number) {
  const { model, instructions, tools, toolChoice, format } = input;
  const items = output.length === 0 ? input.items : input.items.concat(output);
  const text = readLastText(items) || (instructions ?? "");
  const { catalog: hostedTools } = services;
  return { model, instructions, items, tools, toolChoice, format, turn, text, hostedTools };
}

/** Performs one action. Returns whether it ends the turn. */
async function performAction(
  action: Exclude<ModelAction, { fail: unknown } | { failInStream: unknown } | { drop: unknown }>,
  state: TurnState,
): Promise<boolean> {
  const { services, input, output } = state;
  if ("say" in action) {
    output.push(createAnswer(action, state));
    return action.phase !== "commentary";
  }
  if ("refuse" in action) {
    const content = [{ type: "refusal", refusal: action.refuse }];
    output.push(createMessageItem(services.ids.next("msg_"), content));
    return true;
  }
  if ("think" in action) output.push(createReasoning(action.think, state));
  else if ("call" in action) return callFunction(action.call, state);
  else if ("compact" in action) {
    output.push(createCompactionItem([...input.items, ...output], services));
    return true;
  } else if ("stall" in action) await services.sleep(action.stall, input.signal);
  else if ("expireContainer" in action) await expireContainers(state);
  else return await useTool(action, state);
  return false;
}

type Answer = Extract<ModelAction, { say: unknown }>;

function createAnswer({ say, citations = [], phase }: Answer, state: TurnState): WireItem {
  const text = toAnswerText(say);
  const message = createTextMessage(
    state.messageId ?? state.services.ids.next("msg_"),
    text,
    createAnnotations(text, citations, state),
  );
  state.messageId = null;
  return phase === undefined ? message : { ...message, phase };
}

function toAnswerText(say: Answer["say"]): string {
  return typeof say === "string" ? say : JSON.stringify(say);
}

/** Reports the text of an answer in pieces, with a wait after each. */
async function writeSlowly(
  { say, everyMs = 0 }: Answer,
  state: TurnState,
  progress: TurnProgress,
): Promise<void> {
  if (!progress.hearsText) return;
  const live = new LiveAnswer(state, progress, () => {});
  for (const piece of splitIntoChunks(toAnswerText(say))) {
    await live.add({ say: piece });
    await state.services.sleep(everyMs, state.input.signal);
  }
}

function createReasoning(text: string, { services }: TurnState): WireItem {
  return {
    id: services.ids.next("rs_"),
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: services.sealer.seal({ text }),
  };
}

/** Calls a tool of the client. A name that the request does not offer is called as a function. */
function callFunction(
  { name, args, callId }: Extract<ModelAction, { call: unknown }>["call"],
  { input, services, output }: TurnState,
): boolean {
  const { tool, namespace } = findClientTool(input.tools, name) ?? { tool: {}, namespace: null };
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

async function expireContainers({ input, services, containerId }: TurnState): Promise<void> {
  const named = input.tools.flatMap(({ container }) =>
    typeof container === "string" ? [container] : [],
  );
  for (const id of new Set([...named, ...(containerId ? [containerId] : [])])) {
    await services.tools.containers.expire(id);
  }
}

type Failure = Extract<ModelAction, { fail: unknown }>["fail"];

const FAILED = "The model failed.";

/** Fails the request with an HTTP status if the next action asks for it and the turn has no output yet. */
function rejectRequest([next]: readonly ModelAction[], output: readonly WireItem[]): void {
  if (!next || !("fail" in next) || output.length > 0) return;
  const { status } = next.fail;
  if (status !== undefined) throw toProblem({ ...next.fail, status });
}

function toProblem({
  status,
  code,
  message = FAILED,
}: Failure & { readonly status: number }): ApiProblem {
  const tooMany = code === "insufficient_quota" ? code : "requests";
  const type = status === 429 ? tooMany : undefined;
  return new ApiProblem(status, message, { code: code ?? null, type });
}

function createFailure({ code, message = FAILED }: Failure, state: TurnState): TurnOutcome {
  const error = { code: code ?? "server_error", message };
  return { ...createOutcome(state, "failed"), error };
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
