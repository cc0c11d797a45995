/** One action of a local model. A turn is a list of actions. */
export type ModelAction =
  | {
      /** Writes the answer. An object is sent as its JSON text. */
      readonly say: string | object;
      /** Sources to annotate the answer with. @default none */
      readonly citations?: readonly ModelCitation[];
      /**
       * The phase of the message. Commentary does not end the turn: actions or further steps follow.
       * @default none: the answer ends the turn
       */
      readonly phase?: "commentary" | "final_answer";
      /** Milliseconds after each piece of the text, in a stream of the Responses API. @default 0 */
      readonly everyMs?: number;
    }
  | {
      /** Writes a reasoning item with this text as its summary. */
      readonly think: string;
    }
  | {
      /** Calls a function or custom tool of the client. */
      readonly call: {
        /** The name of the function or custom tool. */
        readonly name: string;
        /** The arguments. A string is sent unchanged, because models do not always write valid JSON. */
        readonly args: object | string;
        /** The `call_id` of the call. @default a new id */
        readonly callId?: string;
        /**
         * Whether the request may lack the function, to test how a client handles a name that the model made
         * up. @default false: the call fails unless the request offers the function
         */
        readonly madeUp?: boolean;
      };
    }
  | {
      /** Runs Python code with the code interpreter. */
      readonly code: string;
    }
  | {
      /** Runs shell commands, one after the other. */
      readonly shell: readonly string[];
    }
  | {
      /**
       * Searches. A string searches vector stores if the request offers file search, otherwise the web. `file`
       * searches vector stores, `web` searches the web, `open` opens a page by its URL, and `find` searches for a
       * text `in` the page with that URL.
       */
      readonly search:
        | string
        | { readonly file: string }
        | { readonly web: string }
        | { readonly open: string }
        | { readonly find: string; readonly in: string };
    }
  | {
      /** Edits files with patch operations. */
      readonly patch: readonly object[];
    }
  | {
      /** Calls any hosted tool of the server, including your own (`new LocalProvider({ tools })`). */
      readonly use: {
        /** The kind of the tool: `"web_search"`. */
        readonly kind: string;
        /** The arguments of the call. They must match the tool's parameters. */
        readonly args: object;
      };
    }
  | {
      /** Writes a compaction of the conversation and ends the turn. */
      readonly compact: true;
    }
  | {
      /** Refuses to answer, with this text. */
      readonly refuse: string;
    }
  | {
      /**
       * Fails. With a `status`, and if the turn has no output yet, the request fails with that HTTP status: as the
       * first action also if it is streamed. Otherwise the response has the status `"failed"`. Chat completions and
       * messages cannot have failed: there the status is 500 by default.
       */
      readonly fail: {
        /** The HTTP status. @default none: the response fails, not the request */
        readonly status?: number;
        /** The error code. @default "server_error" in a failed response, `null` in a failed request */
        readonly code?: string;
        /** The error message. @default "The model failed." */
        readonly message?: string;
      };
    }
  | {
      /**
       * Fails inside the stream, even as the first action: with an error event, and on OpenAI's API then a response
       * with the status `"failed"`. Without a stream, OpenAI's API answers with the failed response, and Anthropic's
       * with the HTTP status.
       */
      readonly failInStream: {
        /** The HTTP status that determines the type of the error. @default 500 */
        readonly status?: number;
        /** The error code. @default "server_error" in a failed response, `null` in an error event */
        readonly code?: string;
        /** The error message. @default "The model failed." */
        readonly message?: string;
      };
    }
  | {
      /** Waits this many milliseconds. */
      readonly stall: number;
    }
  | {
      /** Drops the connection to the client. A response in the background continues, and its stream can be resumed. */
      readonly drop: true;
    }
  | {
      /** Expires the turn's container and every container that the request names. */
      readonly expireContainer: true;
    };

/** A source of an answer: a hit of the last search, or a file that code created. */
export type ModelCitation =
  | {
      /** The number of the hit, from 0. */
      readonly hit: number;
      /**
       * The cited span of the answer, in UTF-16 units. @default for a page its URL in the answer, or the whole
       * answer without it; for a file the end of the answer
       */
      readonly at?: readonly [start: number, end: number];
    }
  | {
      /** The path of the file. */
      readonly file: string;
      /**
       * The cited span of the answer, in UTF-16 units. @default the position of the file's `sandbox:` link in
       * the answer, or `[0, 0]`
       */
      readonly at?: readonly [start: number, end: number];
    };
