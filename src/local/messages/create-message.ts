import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { callModel, type ModelCall } from "../turn/call-model.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { readLastText } from "../turn/read-last-text.ts";
import { createAnswerBlocks } from "./answer-blocks.ts";
import type { MessageRequest } from "./check/request.ts";
import { isWebSearch } from "./check/tools.ts";
import { checkMessageStep } from "./check-message-step.ts";
import { createCompactionBlock } from "./compaction.ts";
import { type DeferredStep, splitStep } from "./deferred-actions.ts";
import { toMessageProblem, toStreamProblem } from "./message-problem.ts";
import {
  createMessageState,
  type FinishedBlock,
  type MessageServices,
  type MessageState,
  type StopReason,
} from "./message-state.ts";
import { toModelItems } from "./model-items.ts";
import { toModelFormat, toModelToolChoice, toModelTools } from "./model-tools.ts";
import { toSdkToolUses } from "./sdk-tool-uses.ts";
import { findRequestedTitle } from "./title-request.ts";
import { createFunctionCall, createToolUse } from "./tool-uses.ts";
import { createSummary, findForcedQuery, runWebSearch, toWebQuery } from "./web-search.ts";

/** Limits how often the model is called for one message. */
const MAX_MODEL_CALLS = 100;

const END_TURN: StopReason = { stopReason: "end_turn", stopSequence: null };

/** Creates a message block by block. Calls the model until it answers or calls a tool that the client runs. */
export async function* createMessage(
  request: MessageRequest,
  services: MessageServices,
  call: ModelCall,
): AsyncGenerator<FinishedBlock, StopReason, undefined> {
  const state = createMessageState(request, services, call);
  if (request.isCompaction) {
    yield { block: createCompactionBlock(request, services.sealer) };
    return { stopReason: "compaction", stopSequence: null };
  }
  const query = findForcedQuery(request);
  if (query !== null) return yield* runForcedSearch(query, state);
  const title = findRequestedTitle(request);
  if (title !== null) {
    yield* createAnswerBlocks({ say: { title } }, state);
    return END_TURN;
  }
  const hasHostedSearch = state.tools.some(isWebSearch);
  for (let modelCalls = 0; modelCalls < MAX_MODEL_CALLS; modelCalls++) {
    call.signal.throwIfAborted();
    const { step, actions } = takeDeferredStep(state) ?? (await takeStep(state));
    const { now, later } = splitStep(actions, { hasHostedSearch });
    for (const action of now) {
      for (const block of await performAction(action, state)) {
        state.blocks.push(block);
        yield block;
      }
      if (state.stop) return state.stop;
    }
    const use = state.blocks.findLast(({ block }) => block.type === "tool_use");
    if (use && later.length > 0)
      services.deferredActions.add(readString(use.block, "id"), { step, actions: later });
    if (use) return { stopReason: "tool_use", stopSequence: null };
    if (state.hasAnswered) return END_TURN;
  }
  throw new StepFault(
    `The model was called ${MAX_MODEL_CALLS} times for one message and only used tools. End the message with an answer.`,
  );
}

/** Takes the rest of a step whose tools have run at the client. */
function takeDeferredStep(state: MessageState): DeferredStep | null {
  const { deferredActions } = state.services;
  const deferred = deferredActions.takeAnswered(state.request.messages);
  if (!deferred) return null;
  try {
    checkMessageStep(deferred.actions, state);
  } catch (error) {
    deferredActions.add(deferred.callId, deferred); // the next request gets it again
    throw error instanceof StepFault ? error.atStep(deferred.step + 1) : error;
  }
  return deferred;
}

/** Takes the next step from the model. */
async function takeStep(state: MessageState): Promise<DeferredStep> {
  const { steps, model } = state.services;
  const step = steps.take();
  try {
    const actions = await callModel(model, createModelRequest(state, step), state);
    checkMessageStep(actions, state);
    return { step, actions };
  } catch (error) {
    throw steps.fail(step, error);
  }
}

function createModelRequest({ request, tools, blocks }: MessageState, turn: number) {
  const { model, system, toolChoice, format } = request;
  const partialMessage = { role: "assistant", content: blocks.map(({ block }) => block) } as const;
  const items = toModelItems([...request.messages, partialMessage]);
  return {
    model,
    instructions: system,
    items,
    tools: toModelTools(tools),
    toolChoice: toModelToolChoice(toolChoice, tools),
    format: toModelFormat(format, tools),
    turn,
    text: readLastText(items) || (system ?? ""),
  };
}

async function performAction(
  action: ModelAction,
  state: MessageState,
): Promise<readonly FinishedBlock[]> {
  if ("fail" in action) throw toMessageProblem(action.fail);
  if ("failInStream" in action) throw toStreamProblem(action.failInStream);
  if ("drop" in action) throw new ConnectionDroppedError("The model dropped the connection.");
  if ("say" in action) return createAnswerBlocks(action, state);
  if ("refuse" in action) {
    const blocks = createAnswerBlocks({ say: action.refuse }, state);
    state.stop = { stopReason: "refusal", stopSequence: null };
    return blocks;
  }
  if ("think" in action) return createThinkingBlocks(action.think, state);
  if ("call" in action) return createFunctionCall(action.call, state);
  if ("stall" in action) {
    await state.services.sleep(action.stall, state.signal);
    return [];
  }
  // `checkMessageStep` has rejected them.
  if ("compact" in action || "expireContainer" in action || "use" in action) return [];
  const tool = state.tools.find(isWebSearch);
  const query = "search" in action ? toWebQuery(action.search) : null;
  if (tool && query !== null) return searchWeb(query, tool, state);
  return toSdkToolUses(action, state.tools).flatMap((use) => createToolUse(use, state));
}

/** Creates a thinking block if the request enables thinking. Only this server can create its signature. */
function createThinkingBlocks(
  text: string,
  { request, services }: MessageState,
): readonly FinishedBlock[] {
  const { isEnabled, isShown } = request.thinking;
  if (!isEnabled) return [];
  const signature = services.sealer.seal({ text });
  return [{ block: { type: "thinking", thinking: isShown ? text : "", signature } }];
}

function searchWeb(query: string, tool: WireItem, state: MessageState): readonly FinishedBlock[] {
  const { tools, ids, sealer } = state.services;
  const { searches } = state;
  const { pages, blocks } = runWebSearch(query, tool, { web: tools.web, ids, sealer, searches });
  state.pages = pages;
  state.searches += 1;
  return blocks.map((block) => ({ block }));
}

/** Runs the search that a request forces, and answers with its results. */
function* runForcedSearch(
  query: string,
  state: MessageState,
): Generator<FinishedBlock, StopReason> {
  const [tool = {}] = state.tools;
  yield* searchWeb(query, tool, state);
  for (const block of createSummary(state.pages, state.services.sealer))
    yield { block: { ...block, type: "text" } };
  return END_TURN;
}
