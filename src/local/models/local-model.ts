/** Plays the model: decides what to do next, from the conversation as it now is. */
export interface LocalModel {
  /** Asked again with the results until it says something or calls the client's functions. */
  respond(request: ModelRequest, options?: ModelOptions): Promise<readonly ModelAction[]>;
}

/** How a model is asked. */
export interface ModelOptions {
  /** Aborts when the client has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** What the model is asked with. */
export interface ModelRequest {
  /** As the client named it. */
  readonly model: string;
  /** The request's `instructions`, if it has any. */
  readonly instructions: string | null;
  /** Everything so far, items of hosted tools and their outputs included. */
  readonly items: readonly object[];
  readonly tools: readonly object[];
  readonly toolChoice: unknown;
  /** What the answer must fit, if the client says: its `text.format`. */
  readonly format: object | null;
  /** How often the model was asked before, for this server: counted from 0. */
  readonly turn: number;
  /** Of the last user or system message. */
  readonly text: string;
}

/** One thing that a model does. */
export type ModelAction =
  | { readonly say: string | object; readonly citations?: readonly ModelCitation[] }
  | { readonly think: string }
  | {
      readonly call: {
        readonly name: string;
        /** A text is sent as it is: models do not always write JSON. */
        readonly args: object | string;
        readonly callId?: string;
      };
    }
  | { readonly code: string }
  | { readonly shell: readonly string[] }
  | {
      readonly search:
        | string
        | { readonly file: string }
        | { readonly web: string }
        | { readonly open: string }
        | { readonly find: string; readonly in: string };
    }
  | { readonly patch: readonly object[] }
  | { readonly compact: true }
  | { readonly refuse: string }
  | {
      readonly fail: {
        readonly status?: number;
        readonly code?: string;
        readonly message?: string;
      };
    }
  | { readonly stall: number }
  | { readonly drop: true }
  | { readonly expireContainer: true };

/** A source of what is said: of the last search's hits by their number, or a file that code made. */
export type ModelCitation =
  | { readonly hit: number; readonly at?: readonly [start: number, end: number] }
  | { readonly file: string; readonly at?: readonly [start: number, end: number] };
