/** A recorded run, as printed by `wink replay --json`. */
export interface RunReport {
  readonly file: string;
  /** Version of the package that recorded it. */
  readonly version: string;
  readonly recordedAt: string;
  readonly exchanges: readonly ExchangeReport[];
  /** The model's responses, in order. */
  readonly turns: readonly TurnReport[];
  readonly files: {
    readonly uploaded: readonly FileReport[];
    readonly downloaded: readonly FileReport[];
  };
  /** Tokens of all turns. */
  readonly usage: UsageReport;
  /** The text of the last turn; `null` if the run has no turn with text. */
  readonly answer: string | null;
}

/** One request of a recorded run. */
export interface ExchangeReport {
  readonly number: number;
  /** Milliseconds from the start of the recording to the request. */
  readonly atMs: number;
  /** Milliseconds to the last chunk; `null` without a body. */
  readonly durationMs: number | null;
  readonly method: string;
  readonly path: string;
  /** `null` without a response. */
  readonly status: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Why the exchange has no complete response; `null` if it has one. */
  readonly problem: string | null;
}

/** One response of the model. */
export interface TurnReport {
  /** Number of the exchange with the whole response. */
  readonly exchange: number;
  readonly model: string;
  readonly status: string;
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  /** Kinds of the hosted calls, in order. */
  readonly hostedCalls: readonly string[];
  readonly usage: UsageReport | null;
  /** Whether a workspace sent the request to run its own Python. */
  readonly isWorkspace: boolean;
}

/** Token counts. */
export interface UsageReport {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A file that was sent or received. */
export interface FileReport {
  /** Number of the exchange. */
  readonly exchange: number;
  /** The file's name, or the path from which it was downloaded. */
  readonly name: string;
  readonly bytes: number;
}
