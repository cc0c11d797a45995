/** A piece of work in an evaluation, which the observers of its bus surround. */
export type ObservedWork = ObservedEvaluation | ObservedTurn | ObservedCall;

/** A whole evaluation, from the call of `evaluate` to its result. */
export interface ObservedEvaluation {
  readonly type: "evaluation";
  readonly sessionId: string;
  readonly promptName: string;
  /** Name of the adapter, as it appears in events. */
  readonly adapter: string;
  /** The model that requests name; `null` if the client does not know it. */
  readonly model: string | null;
}

/** One request to the model, with its retries. */
export interface ObservedTurn {
  readonly type: "turn";
  readonly sessionId: string;
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** Whether the model must answer with JSON. */
  readonly wantsJson: boolean;
}

/** The local part of one call: its handler, or the hook of a call that the provider ran. */
export interface ObservedCall {
  readonly type: "call";
  readonly sessionId: string;
  readonly name: string;
  readonly callId: string;
  /** Kind of the hosted tool, such as `"web_search"`, if the provider ran the call; `null` if it runs here. */
  readonly hostedKind: string | null;
}

/**
 * Runs a piece of work, for example within its own context. It must call `run` once, return its result, and throw only
 * its error.
 */
export type WorkObserver = <Result>(
  work: ObservedWork,
  run: () => Promise<Result>,
) => Promise<Result>;
