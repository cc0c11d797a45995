import type { WireItem } from "../../openai/wire.ts";
import type { TurnServices } from "../turn/turn.ts";
import type { Block } from "./check/content.ts";
import type { MessageRequest } from "./check/request.ts";
import type { LeftActions } from "./left-actions.ts";
import type { FoundPage } from "./web-search.ts";

/** What messages are made with. */
export interface MessageServices extends TurnServices {
  readonly left: LeftActions;
}

/** A block of an answer. */
export interface MadeBlock {
  readonly block: Block;
  /** The arguments of a call as the model wrote them, where that is no JSON object. */
  readonly written?: string | undefined;
}

/** Why an answer has ended. */
export interface Ended {
  readonly stopReason: string;
  readonly stopSequence: string | null;
}

/** What is known while an answer is made. */
export interface MessageState {
  readonly request: MessageRequest;
  readonly services: MessageServices;
  readonly signal: AbortSignal;
  /** Those that the model may use. */
  readonly tools: readonly WireItem[];
  readonly made: MadeBlock[];
  pages: readonly FoundPage[];
  searches: number;
  /** Bytes of text that may still be said. */
  left: number;
  /** It has said what it had to say. */
  hasSpoken: boolean;
  ended: Ended | null;
}

/** An answer that has not begun. */
export function emptyMessage(
  request: MessageRequest,
  services: MessageServices,
  signal: AbortSignal,
): MessageState {
  const tools = request.toolChoice.type === "none" ? [] : request.tools;
  const left = request.maxTokens * BYTES_A_TOKEN;
  const [made, pages]: [MadeBlock[], FoundPage[]] = [[], []];
  const begun = { made, pages, searches: 0, left, hasSpoken: false, ended: null };
  return { request, services, signal, tools, ...begun };
}

/** As `tokensIn` counts. */
const BYTES_A_TOKEN = 4;
