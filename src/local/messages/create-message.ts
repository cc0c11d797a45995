import { readString } from "../../base/loose-fields.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { readLastText } from "../turn/read-last-text.ts";
import { createAnswerBlocks } from "./answer-blocks.ts";
import { createModelFault } from "./check/invalid-problem.ts";
import type { MessageRequest } from "./check/request.ts";
import { isWebSearch } from "./check/tools.ts";
import { splitStep } from "./deferred-actions.ts";
import { toMessageProblem } from "./message-problem.ts";
import {
  createMessageState,
  type FinishedBlock,
  type MessageServices,
  type MessageState,
  type StopReason,
} from "./message-state.ts";
import { toModelItems } from "./model-items.ts";
import {
  STRUCTURED_OUTPUT_TOOL,
  toModelFormat,
  toModelToolChoice,
  toModelTools,
} from "./model-tools.ts";
import { toSdkToolUses } from "./sdk-tool-uses.ts";
import { findRequestedTitle } from "./title-request.ts";
import { createFunctionCall, createToolUse } from "./tool-uses.ts";
import { createSummary, findForcedQuery, runWebSearch } from "./web-search.ts";

/** Limits how often the model is called for one message. */
const MAX_MODEL_CALLS = 100;

const END_TURN: StopReason = { stopReason: "end_turn", stopSequence: null };

/** Creates a message block by block. Calls the model until it answers or calls a tool that the client runs. */
export async function* createMessage(
  request: MessageRequest,
  services: MessageServices,
  signal: AbortSignal,
): AsyncGenerator<FinishedBlock, StopReason, undefined> {
  const state = createMessageState(request, services, signal);
  const query = findForcedQuery(request);
  if (query !== null) return yield* runForcedSearch(query, state);
  const title = findRequestedTitle(request);
  if (title !== null) {
    yield* createAnswerBlocks({ say: { title } }, state);
    return END_TURN;
  }
  const hasHostedSearch = state.tools.some(isWebSearch);
  for (let modelCalls = 0; modelCalls < MAX_MODEL_CALLS; modelCalls++) {
    signal.throwIfAborted();
    const actions =
      services.deferredActions.takeAnswered(request.messages) ?? (await callModel(state));
    checkForcedCall(actions, state);
    const { now, later } = splitStep(actions, { hasHostedSearch });
    for (const action of now) {
      for (const block of await performAction(action, state)) {
        state.blocks.push(block);
        yield block;
      }
      if (state.stop) return state.stop;
    }
    const call = state.blocks.findLast(({ block }) => block.type === "tool_use");
    if (call && later.length > 0) services.deferredActions.add(readString(call.block, "id"), later);
    if (call) return { stopReason: "tool_use", stopSequence: null };
    if (state.hasAnswered) return END_TURN;
  }
  throw createModelFault(
    `The model was called ${MAX_MODEL_CALLS} times for one message and only used tools. End the message with an answer.`,
  );
}

async function callModel({ request, services, tools, blocks, signal }: MessageState) {
  const { model, system, toolChoice, format } = request;
  const partialMessage = { role: "assistant", content: blocks.map(({ block }) => block) } as const;
  const items = toModelItems([...request.messages, partialMessage]);
  const modelRequest = {
    model,
    instructions: system,
    items,
    tools: toModelTools(tools),
    toolChoice: toModelToolChoice(toolChoice, tools),
    format: toModelFormat(format, tools),
    turn: services.modelRequests.count++,
    text: readLastText(items) || (system ?? ""),
  };
  return await services.model.respond(modelRequest, { signal });
}

/** Fails the request if the tool choice forces a call and the model makes none. */
function checkForcedCall(actions: readonly ModelAction[], { request, tools }: MessageState): void {
  const { type } = request.toolChoice;
  if (type !== "any" && type !== "tool") return;
  const takesAnswer = tools.some(({ name }) => name === STRUCTURED_OUTPUT_TOOL);
  const isCall = (action: ModelAction) =>
    ["call", "code", "shell", "search", "patch", "use", "fail", "drop"].some(
      (key) => key in action,
    ) ||
    ("say" in action && typeof action.say === "object" && takesAnswer);
  if (actions.some(isCall)) return;
  throw createModelFault(
    `The model called no tool, but the request's tool_choice is ${type}. Change the model's action or the tool_choice.`,
  );
}

async function performAction(
  action: ModelAction,
  state: MessageState,
): Promise<readonly FinishedBlock[]> {
  if ("fail" in action) throw toMessageProblem(action.fail);
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
  if ("compact" in action)
    throw createModelFault(
      "The model compacted the conversation, but the Messages API has no compaction item.",
    );
  if ("expireContainer" in action)
    throw createModelFault(
      "The model expired a container, but the Messages API has no containers.",
    );
  if ("use" in action)
    throw createModelFault(
      `The model used the tool '${action.use.kind}', but the Messages API does not run hosted tools by kind. Call a tool of the client instead.`,
    );
  const tool = state.tools.find(isWebSearch);
  const query = "search" in action ? toWebQuery(action.search) : null;
  if (tool && query !== null) return searchWeb(query, tool, state);
  return toSdkToolUses(action, state.tools).flatMap((use) => createToolUse(use, state));
}

function toWebQuery(search: Extract<ModelAction, { search: unknown }>["search"]): string | null {
  if (typeof search === "string") return search;
  return "web" in search ? search.web : null;
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
