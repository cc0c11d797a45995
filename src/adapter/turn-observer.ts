/** A part of a model's response, delivered as it arrives. */
export type ResponsePart =
  | {
      /** Text of the model. */
      readonly type: "text";
      /** Number of the turn, starting at 1. */
      readonly turn: number;
      /** The new text. */
      readonly delta: string;
    }
  | {
      /** The model's summary of its reasoning. */
      readonly type: "reasoning";
      /** Number of the turn, starting at 1. */
      readonly turn: number;
      /** The new text. */
      readonly delta: string;
    }
  | {
      /** A call to a tool that runs locally. */
      readonly type: "toolCall";
      /** Number of the turn, starting at 1. */
      readonly turn: number;
      /** Id of the call. */
      readonly callId: string;
      /** Name of the tool. */
      readonly name: string;
      /** The new part of the call's arguments, which are JSON. Empty when the call begins. */
      readonly delta: string;
    }
  | {
      /** A call to a hosted tool. */
      readonly type: "hostedCall";
      /** Number of the turn, starting at 1. */
      readonly turn: number;
      /** Id of the call. */
      readonly callId: string;
      /** Kind of the hosted tool, such as `"web_search"`. */
      readonly kind: string;
      /** The provider's status of the call, such as `"searching"` or `"completed"`. */
      readonly status: string;
      /** The new part of the call's code, command or patch. */
      readonly delta?: string;
    };

/**
 * What a client reports while a response arrives. The loop passes one with each request of a stream,
 * and with each request of an evaluation whose bus hears `TurnProgressed`.
 */
export interface TurnObserver {
  /** Whether the evaluation is a stream. If not, the client need not parse the parts. */
  readonly wantsParts: boolean;
  /** Reports a part of the response. */
  onPart(part: ResponsePart): void;
  /** Reports that bytes arrived. `last` is the provider's name of what arrived last. */
  onReceived(bytes: number, last: string): void;
  /** Reports that a hosted call changed its status. `last` is the provider's name of the change. */
  onStatus(last: string): void;
  /** Reports that the request is sent again, so that the parts so far are void. */
  onRestart(): void;
  /** Resolves when readers have caught up; `null` if the client need not wait. */
  readonly backlog: Promise<void> | null;
}

/** Key of the option that holds the readers of a stream. Adapters pass it through. */
export const streamFeed = Symbol("feed");

/** Receives the parts of all responses of an evaluation, for the readers of its stream. */
export interface StreamFeed {
  /** Receives a part of a response. */
  onPart(part: ResponsePart): void;
  /** Receives the number of a turn that is sent again after parts of it were delivered. */
  onRestart(turn: number): void;
  /** Resolves when readers have caught up; `null` if the connection need not wait. */
  readonly backlog: Promise<void> | null;
}
