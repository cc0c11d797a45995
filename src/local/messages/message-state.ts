import type { WireItem } from "../../openai/wire.ts";
import type { ModelCall } from "../turn/call-model.ts";
import type { TurnServices } from "../turn/turn.ts";
import type { Block } from "./check/content.ts";
import type { MessageRequest } from "./check/request.ts";
import type { DeferredActions } from "./deferred-actions.ts";
import { listDeferredTools } from "./deferred-tools.ts";
import type { FoundPage } from "./hosted/found-page.ts";

/** Services to create messages with. */
export interface MessageServices extends TurnServices {
  readonly deferredActions: DeferredActions;
}

/** A finished content block. */
export interface FinishedBlock {
  readonly block: Block;
  /** The arguments of a call as the model wrote them, if they are not a JSON object. */
  readonly rawInput?: string | undefined;
}

/** The stop reason of a message. */
export interface StopReason {
  readonly stopReason: string;
  readonly stopSequence: string | null;
}

/** How a message ended. */
export interface MessageEnd extends StopReason {
  /** The container in which the message's code ran, in Anthropic's format; `null` if no code ran. */
  readonly container: WireItem | null;
}

/** The state of a message in progress. */
export interface MessageState extends ModelCall {
  readonly request: MessageRequest;
  readonly services: MessageServices;
  /** The tools that the model may use. */
  readonly tools: readonly WireItem[];
  /** The names of the tools that the client sends once the model has asked for them. */
  readonly deferredTools: readonly WireItem[];
  /** The finished blocks. */
  readonly blocks: FinishedBlock[];
  /** The pages of the last search. */
  pages: readonly FoundPage[];
  /** The number of searches so far. */
  searches: number;
  /** The number of opened pages so far. */
  fetches: number;
  /** The container in which code runs, once it has run. */
  containerId: string | null;
  /** The remaining bytes of text before `max_tokens` is reached. */
  remainingBytes: number;
  /** Whether the model has answered. */
  hasAnswered: boolean;
  /** The stop reason, once the message has ended. */
  stop: StopReason | null;
}

/** Creates the state of a new message. */
export function createMessageState(
  request: MessageRequest,
  services: MessageServices,
  { signal, usage }: ModelCall,
): MessageState {
  const tools = request.toolChoice.type === "none" ? [] : request.tools;
  return {
    request,
    services,
    signal,
    usage,
    tools,
    deferredTools: listDeferredTools(tools, request.messages),
    blocks: [],
    pages: [],
    searches: 0,
    fetches: 0,
    containerId: null,
    remainingBytes: request.maxTokens * BYTES_PER_TOKEN,
    hasAnswered: false,
    stop: null,
  };
}

/** The bytes per token that token counts assume. */
export const BYTES_PER_TOKEN = 4;

/** Returns the tools that the request's tool choice allows. */
export function listChosenTools({
  request,
  tools,
}: Pick<MessageState, "request" | "tools">): readonly WireItem[] {
  const { type, name } = request.toolChoice;
  return type === "tool" ? tools.filter((tool) => tool["name"] === name) : tools;
}
