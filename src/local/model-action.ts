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
  | {
      /** Calls any hosted tool of the server, also those of `new LocalProvider({ tools })`. */
      readonly use: {
        readonly kind: string;
        readonly args: object;
      };
    }
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
