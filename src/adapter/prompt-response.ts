import type { TokenUsage } from "../base/usage.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedOutputs } from "./hosted-outputs.ts";
import type { FinishReason, HostedCall } from "./model-client.ts";

/** What `evaluate` resolves to. */
export interface PromptResponse<Output> {
  readonly promptName: string;
  /** `null` once it was read as `output`. */
  readonly text: string | null;
  /** The text itself where the prompt declares no output schema. */
  readonly output: Output;
  readonly hostedOutputs: HostedOutputs;
  /** Every call the provider ran, in order. */
  readonly hostedCalls: readonly HostedCall[];
  readonly citations: readonly Citation[];
  /** Summed over all turns. */
  readonly usage: TokenUsage;
  /** In US dollars, by the provider's own estimate; left out where it gives none. */
  readonly costUsd?: number;
  readonly finishReason: FinishReason;
  readonly responseId: string | null;
}
