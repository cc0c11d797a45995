import type { WireItem } from "../../openai/wire.ts";
import type { Ids } from "../ids.ts";
import type { LocalModel } from "../models/local-model.ts";
import type { LocalToolHit } from "../tools/local-tool.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ToolServices } from "../tools/tool-services.ts";
import type { MadeFile } from "./annotations.ts";
import type { Sealer } from "./sealed.ts";

/** What a turn is made from: a request, and the conversation that it goes on with. */
export interface TurnInput {
  readonly model: string;
  readonly instructions: string | null;
  /** All that was said and done before, readable. */
  readonly items: readonly WireItem[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: unknown;
  readonly format: WireItem | null;
  readonly maxToolCalls: number | null;
  readonly maxOutputTokens: number | null;
  readonly parallelToolCalls: boolean;
  readonly signal: AbortSignal;
}

/** What all turns of a server share. */
export interface TurnServices {
  readonly model: LocalModel;
  readonly tools: ToolServices;
  /** The hosted tools that the server knows. */
  readonly catalog: ToolCatalog;
  readonly sealer: Sealer;
  readonly ids: Ids;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How often the model was asked, over the server's life. */
  readonly asked: { count: number };
  /** How long one run of code or one command may take. */
  readonly runTimeoutMs: number;
}

/** What is known while a turn runs; tools add to it. */
export interface TurnState {
  readonly input: TurnInput;
  readonly services: TurnServices;
  readonly output: WireItem[];
  hits: readonly LocalToolHit[];
  readonly files: MadeFile[];
  /** The container that code and commands of this turn run in, once there is one. */
  containerId: string | null;
  toolCalls: number;
}

/** How a turn ended. */
export interface TurnOutcome {
  readonly status: "completed" | "incomplete" | "failed";
  readonly output: readonly WireItem[];
  readonly incompleteReason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** By the place in `tools` of the tool that made it. */
  readonly containerId: string | null;
}
