import type { ModelAction } from "../model-action.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";

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
  /** The server's hosted tools, which `echoModel` and `upstreamModel` read: pass it on if you wrap them. @default the built-in ones */
  readonly hostedTools?: ToolCatalog | undefined;
}
