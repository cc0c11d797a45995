import { readString } from "../../base/json.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { callModel, type ModelCall } from "../turn/call-model.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { readLastText } from "../turn/read-last-text.ts";
import { createAnswerBlocks } from "./answer-blocks.ts";
import type { MessageRequest } from "./check/request.ts";
import { checkMessageStep } from "./check-message-step.ts";
import { createCompactionBlock } from "./compaction.ts";
import { type DeferredStep, splitStep } from "./deferred-actions.ts";
import { createToolSearchUse } from "./deferred-tools.ts";
import { findServerTool } from "./hosted/find-server-tool.ts";
import { checkContainer, describeContainer, expireContainer } from "./hosted/resolve-container.ts";
import { runServerTool, searchWeb } from "./hosted/run-server-tool.ts";
import { createSummary, findForcedQuery } from "./hosted/web-search.ts";
import { toMessageProblem, toStreamProblem } from "./message-problem.ts";
import {
  createMessageState,
  type FinishedBlock,
  listChosenTools,
  type MessageEnd,
  type MessageServices,
  type MessageState,
  type StopReason,
} from "./message-state.ts";
import { toModelItems } from "./model-items.ts";
import { toModelFormat, toModelToolChoice, toModelTools } from "./model-tools.ts";
import { type SdkToolAction, toSdkToolUses } from "./sdk-tool-uses.ts";
import { findRequestedTitle } from "./title-request.ts";
import { createFunctionCall, createToolUse } from "./tool-uses.ts";

/** Limits how often the model is called for one message. */
const MAX_MODEL_CALLS = 100;

const END_TURN: StopReason = { stopReason: "end_turn", stopSequence: null };
const TOOL_USE: StopReason = { stopReason: "tool_use", stopSequence: null };

/** Creates a message block by block. Calls the model until it answers or calls a tool that the client runs. */
export async function* createMessage(
  request: MessageRequest,
  services: MessageServices,
  call: ModelCall,
): AsyncGenerator<FinishedBlock, MessageEnd, undefined> {
  checkContainer(request, services);
  const state = createMessageState(request, services, call);
  const stop = yield* createContent(state);
  return { ...stop, container: describeContainer(state) };
}

async function* createContent(
  state: MessageState,
): AsyncGenerator<FinishedBlock, StopReason, undefined> {
  const { request, services } = state;
  if (request.maxTokens === 0) return { stopReason: "max_tokens", stopSequence: null };
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
  const chosen = listChosenTools(state);
  const isHosted = (action: SdkToolAction) => findServerTool(action, chosen) !== null;
  for (let modelCalls = 0; modelCalls < MAX_MODEL_CALLS; modelCalls++) {
    state.signal.throwIfAborted();
    const taken = takeDeferredStep(state) ?? (await takeStep(state));
    if (taken.missing.length > 0) return yield* searchTools(taken, state);
    const { step, actions } = taken;
    const { now, later } = splitStep(actions, isHosted);
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
    if (use) return TOOL_USE;
    if (state.hasAnswered) return END_TURN;
  }
  throw new StepFault(
    `The model was called ${MAX_MODEL_CALLS} times for one message and only used tools. End the message with an answer.`,
  );
}

/** A step, and the names of the tools that the client must load first. */
interface CheckedStep extends DeferredStep {
  readonly missing: readonly string[];
}

/** Asks the client to load tools. The step waits for them. */
function* searchTools(
  { step, actions, missing }: CheckedStep,
  state: MessageState,
): Generator<FinishedBlock, StopReason> {
  const { ids, deferredActions } = state.services;
  const id = ids.next("toolu_");
  deferredActions.add(id, { step, actions, isSearched: true });
  yield* createToolUse(createToolSearchUse(missing), state, { callId: id });
  return TOOL_USE;
}

/** Takes the rest of a step whose tools have run at the client. */
function takeDeferredStep(state: MessageState): CheckedStep | null {
  const { deferredActions } = state.services;
  const deferred = deferredActions.takeAnswered(state.request.messages);
  if (!deferred) return null;
  try {
    const options = { allowsDeferred: deferred.isSearched !== true };
    return { ...deferred, missing: checkMessageStep(deferred.actions, state, options) };
  } catch (error) {
    deferredActions.add(deferred.callId, deferred); // the next request gets it again
    throw error instanceof StepFault ? error.atStep(deferred.step + 1) : error;
  }
}

/** Takes the next step from the model. */
async function takeStep(state: MessageState): Promise<CheckedStep> {
  const { steps, model } = state.services;
  const step = steps.take();
  try {
    const actions = await callModel(model, createModelRequest(state, step), state);
    return { step, actions, missing: checkMessageStep(actions, state) };
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
  if ("expireContainer" in action) {
    await expireContainer(state);
    return [];
  }
  if ("compact" in action || "use" in action) return []; // `checkMessageStep` has rejected them
  const tool = findServerTool(action, listChosenTools(state));
  if (tool) return (await runServerTool(action, tool, state)).map((block) => ({ block }));
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

/** Runs the search that a request forces, and answers with its results. */
function* runForcedSearch(
  query: string,
  state: MessageState,
): Generator<FinishedBlock, StopReason> {
  const [tool = {}] = state.tools;
  for (const block of searchWeb(query, tool, state)) yield { block };
  for (const block of createSummary(state.pages, state.services.sealer))
    yield { block: { ...block, type: "text" } };
  return END_TURN;
}
