import type { Clock } from "../../base/clock.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { InputFile } from "../input-files.ts";
import type { LocalModel } from "../models/local-model.ts";
import type { LocalToolHit } from "../tools/local-tool.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import type { ToolServices } from "../tools/tool-services.ts";
import type { ProducedFile } from "./create-annotations.ts";
import type { ModelSteps } from "./model-steps.ts";
import type { Sealer } from "./sealer.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** The input of a turn: a request and the conversation that it continues. */
export interface TurnInput {
  readonly model: string;
  readonly instructions: string | null;
  /** All earlier items, decrypted. */
  readonly items: readonly WireItem[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: unknown;
  readonly format: WireItem | null;
  readonly maxToolCalls: number | null;
  readonly maxOutputTokens: number | null;
  readonly parallelToolCalls: boolean;
  /** The client's time limit in milliseconds for one run of code; `null` if it sent none. */
  readonly codeTimeoutMs: number | null;
  /** Lists the files in the conversation's input, which the containers of its tools receive. */
  readonly inputFiles: () => readonly InputFile[];
  readonly signal: AbortSignal;
  /** Receives the tokens that the model reports. */
  readonly usage: UsageMeter;
}

/** Services shared by all of a server's turns. */
export interface TurnServices {
  readonly model: LocalModel;
  readonly tools: ToolServices;
  /** The hosted tools that the server supports. */
  readonly catalog: ToolCatalog;
  readonly sealer: Sealer;
  readonly ids: Ids;
  readonly sleep: Clock["sleep"];
  /** The steps of the model since the server started. */
  readonly steps: ModelSteps;
  /** Time limit in milliseconds for one run of code or one command. Clients can ask for less. */
  readonly runTimeoutMs: number;
}

/** The state of a running turn. Tools add to it. */
export interface TurnState {
  readonly input: TurnInput;
  readonly services: TurnServices;
  readonly output: WireItem[];
  hits: readonly LocalToolHit[];
  readonly files: ProducedFile[];
  /** The container in which code and commands of this turn run, once there is one. */
  containerId: string | null;
  toolCalls: number;
  /** The id of the message whose text the model is writing; `null` if there is none. */
  messageId: string | null;
  /** Reports a hosted call that is about to run. The finished item has the same id. */
  readonly begin: (call: WireItem) => Promise<void>;
}

/** How a turn ended. */
export interface TurnOutcome {
  readonly status: "completed" | "incomplete" | "failed";
  readonly output: readonly WireItem[];
  readonly incompleteReason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The error event of a stream, if the model failed with one. @default none */
  readonly problem?: ApiProblem | undefined;
  /** The container in which the turn ran code; `null` if it ran none. */
  readonly containerId: string | null;
}
