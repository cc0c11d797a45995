import { textAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { Dropped } from "../turn/dropped.ts";
import { lastText } from "../turn/last-text.ts";
import { modelFault } from "./check/refusal.ts";
import type { MessageRequest } from "./check/request.ts";
import { isWebSearch } from "./check/tools.ts";
import { failureOf } from "./failure.ts";
import { nowAndLater } from "./left-actions.ts";
import {
  type Ended,
  emptyMessage,
  type MadeBlock,
  type MessageServices,
  type MessageState,
} from "./message-state.ts";
import { modelItems } from "./model-items.ts";
import { modelFormat, modelToolChoice, modelTools, STRUCTURED } from "./model-tools.ts";
import { nativeUses } from "./native-uses.ts";
import { saidBlocks } from "./said-text.ts";
import { titleAsked } from "./title-request.ts";
import { callOf, functionCall } from "./tool-uses.ts";
import { forcedSearch, runSearch, summaryOf } from "./web-search.ts";

/** A model that only ever thinks and searches is asked no more often than this. */
const MOST_ASKS = 100;

const ENDED: Ended = { stopReason: "end_turn", stopSequence: null };

/** One answer, block by block: asks the model until it speaks or calls what the client runs. */
export async function* makeMessage(
  request: MessageRequest,
  services: MessageServices,
  signal: AbortSignal,
): AsyncGenerator<MadeBlock, Ended, undefined> {
  const state = emptyMessage(request, services, signal);
  const query = forcedSearch(request);
  if (query !== null) return yield* searchedOnly(query, state);
  const title = titleAsked(request);
  if (title !== null) {
    yield* saidBlocks({ say: { title } }, state);
    return ENDED;
  }
  const searchesHere = state.tools.some(isWebSearch);
  for (let asks = 0; asks < MOST_ASKS; asks++) {
    signal.throwIfAborted();
    const actions = services.left.take(request.messages) ?? (await ask(state));
    checkForced(actions, state);
    const { now, later } = nowAndLater(actions, { searchesHere });
    for (const action of now) {
      for (const made of await perform(action, state)) {
        state.made.push(made);
        yield made;
      }
      if (state.ended) return state.ended;
    }
    const call = state.made.findLast(({ block }) => block.type === "tool_use");
    if (call && later.length > 0) services.left.keep(textAt(call.block, "id"), later);
    if (call) return { stopReason: "tool_use", stopSequence: null };
    if (state.hasSpoken) return ENDED;
  }
  throw modelFault(`The model used tools ${MOST_ASKS} times and said nothing.`);
}

async function ask({ request, services, tools, made, signal }: MessageState) {
  const { model, system, toolChoice, format } = request;
  const own = { role: "assistant", content: made.map(({ block }) => block) } as const;
  const items = modelItems([...request.messages, own]);
  const asked = {
    model,
    instructions: system,
    items,
    tools: modelTools(tools),
    toolChoice: modelToolChoice(toolChoice, tools),
    format: modelFormat(format, tools),
    turn: services.asked.count++,
    text: lastText(items) || (system ?? ""),
  };
  return await services.model.respond(asked, { signal });
}

/** A choice that forces a call is obeyed, or the answer fails: it is never let go. */
function checkForced(actions: readonly ModelAction[], { request, tools }: MessageState): void {
  const { type } = request.toolChoice;
  if (type !== "any" && type !== "tool") return;
  const takesAnswer = tools.some(({ name }) => name === STRUCTURED);
  const isCall = (action: ModelAction) =>
    ["call", "code", "shell", "search", "patch", "use", "fail", "drop"].some(
      (key) => key in action,
    ) ||
    ("say" in action && typeof action.say === "object" && takesAnswer);
  if (actions.some(isCall)) return;
  throw modelFault(
    `The model called no tool, and the request's tool_choice is ${type}: change the one or the other.`,
  );
}

async function perform(action: ModelAction, state: MessageState): Promise<readonly MadeBlock[]> {
  if ("fail" in action) throw failureOf(action.fail);
  if ("drop" in action) throw new Dropped("the model dropped the connection");
  if ("say" in action) return saidBlocks(action, state);
  if ("refuse" in action) {
    const blocks = saidBlocks({ say: action.refuse }, state);
    state.ended = { stopReason: "refusal", stopSequence: null };
    return blocks;
  }
  if ("think" in action) return thought(action.think, state);
  if ("call" in action) return functionCall(action.call, state);
  if ("stall" in action) {
    await state.services.sleep(action.stall, state.signal);
    return [];
  }
  if ("compact" in action)
    throw modelFault("The model compacted, and the Messages API has no item for it.");
  if ("expireContainer" in action)
    throw modelFault("The model let a container expire, and the Messages API has none.");
  if ("use" in action)
    throw modelFault(
      `The model used the tool '${action.use.kind}', and the Messages API has no hosted tools of that form: call a tool of the client's instead.`,
    );
  const tool = state.tools.find(isWebSearch);
  const asked = "search" in action ? webQuery(action.search) : null;
  if (tool && asked !== null) return searched(asked, tool, state);
  return nativeUses(action, state.tools).flatMap((use) => callOf(use, state));
}

function webQuery(search: Extract<ModelAction, { search: unknown }>["search"]): string | null {
  if (typeof search === "string") return search;
  return "web" in search ? search.web : null;
}

/** Thoughts are told to who asked for them; only this server can make their signature. */
function thought(text: string, { request, services }: MessageState): readonly MadeBlock[] {
  const { isEnabled, isShown } = request.thinking;
  if (!isEnabled) return [];
  const signature = services.sealer.seal({ text });
  return [{ block: { type: "thinking", thinking: isShown ? text : "", signature } }];
}

function searched(query: string, tool: WireItem, state: MessageState): readonly MadeBlock[] {
  const { tools, ids, sealer } = state.services;
  const { searches } = state;
  const { pages, blocks } = runSearch(query, tool, { web: tools.web, ids, sealer, searches });
  state.pages = pages;
  state.searches += 1;
  return blocks.map((block) => ({ block }));
}

/** The search that a request leaves no choice but to make, and what it found. */
function* searchedOnly(query: string, state: MessageState): Generator<MadeBlock, Ended> {
  const [tool = {}] = state.tools;
  yield* searched(query, tool, state);
  for (const block of summaryOf(state.pages, state.services.sealer))
    yield { block: { ...block, type: "text" } };
  return ENDED;
}
