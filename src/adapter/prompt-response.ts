import type { TokenUsage } from "../base/usage.ts";
import type { Session } from "../session/session.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { NativeTool } from "../tools/native-tool.ts";
import type { ProviderTool } from "../tools/provider-tool.ts";
import type { EgressReport } from "./egress/egress-report.ts";
import type { FinishReason, HostedCall } from "./model-client.ts";

/** The result of an evaluation. */
export interface PromptResponse<Output> {
  /** Name of the evaluated prompt. */
  readonly promptName: string;
  /**
   * The model's answer as it was written, also if it was parsed into `output`. The spans of
   * `citations` refer to it. Empty if the model wrote nothing, for example if it only generated an
   * image.
   */
  readonly text: string;
  /** The validated output, or the text if the prompt declares no output schema. */
  readonly output: Output;
  /** The output of each hosted tool, for all of its calls in all turns. */
  readonly hostedOutputs: HostedOutputs;
  /** All hosted calls, in order. */
  readonly hostedCalls: readonly HostedCall[];
  /**
   * All citations. Spans count UTF-16 units of `text`. Citations from earlier turns have a `null`
   * span.
   */
  readonly citations: readonly Citation[];
  /** Tokens used by all turns together. */
  readonly usage: TokenUsage;
  /**
   * Cost in US dollars: the provider's figure, or an estimate from the price table. Absent if the model has no
   * price.
   */
  readonly costUsd?: number;
  /**
   * What left the machine during this call of `evaluate`. Its hashes are computed when it is first read. Nested
   * evaluations have their own report, and requests that your handlers send are not part of it.
   */
  readonly egress: EgressReport;
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** The provider's id of the last response, if any. */
  readonly responseId: string | null;
  /** The session that the evaluation used. Not enumerable, so that logs and JSON omit it. */
  readonly session: Session;
}

/**
 * Outputs of hosted tools over all turns: typed if looked up by tool, `unknown` if by name. It
 * cannot be changed, and its outputs are deep-frozen. `JSON.stringify` writes an object with one
 * entry per tool name. `structuredClone` keeps the data, as `{ outputs }`, but not the methods.
 */
export interface HostedOutputs extends ReadonlyMap<string, unknown> {
  /**
   * Returns the output of all calls of a tool, or `undefined` if the model did not use it. A hook's
   * or handler's result for a call is used in place of the provider's output.
   */
  get<Config extends object, Output>(tool: HostedTool<Config, Output>): Output | undefined;
  /** Returns the output of all calls of a tool, or `undefined` if the model did not use it. */
  get<Params, Result>(
    tool: NativeTool<Params, Result> | ProviderTool<Params, Result>,
  ): Result | undefined;
  /** Returns the output of the tool with this name, or `undefined` if the model did not use it. */
  get(name: string): unknown;
  /** Returns whether there is an output of a tool, or of the tool with this name. */
  has(tool: string | HostedTool | NativeTool | ProviderTool): boolean;
  /** Returns the outputs by tool name, for `JSON.stringify`. */
  toJSON(): Record<string, unknown>;
}
