import type { Approver } from "../../adapter/approvals/approval-request.ts";
import type { PromptResponse } from "../../adapter/prompt-response.ts";
import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import type { Schema } from "../../base/schema/schema.ts";
import type { InputPart } from "../../prompt/input.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Session } from "../../session/session.ts";
import type { Slice } from "../../session/slice.ts";
import type { ResourceRegistry } from "../../tools/resources.ts";
import type { LoopLimits } from "./loop-limits.ts";

/** The context that `prepare` of an `AgentLoop` receives. */
export interface PrepareRunContext {
  /** The session of the run, with what earlier attempts have stored. */
  readonly session: Session;
  /**
   * A folder for the files of the run, restored on this machine. Pass it to a workspace as `persistDir`. It is created
   * when it is used, and removed when the run has ended.
   */
  readonly folder: string;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Aborts when the attempt must stop. */
  readonly signal: AbortSignal;
}

/** A prompt with its input and resources, if `prepare` returns more than a prompt. */
export interface PreparedRun<Output> {
  /** The prompt to evaluate. */
  readonly prompt: Prompt<Output>;
  /** The user's input, as for `evaluate`. @default none */
  readonly input?: string | readonly InputPart[] | undefined;
  /** Resources for the tools, as for `evaluate`. @default none */
  readonly resources?: ResourceRegistry | undefined;
}

/** The context that `finalize` of an `AgentLoop` receives with the output. */
export interface FinalizeContext<Output> {
  /** The session of the run. */
  readonly session: Session;
  /** The response of the evaluation. */
  readonly response: PromptResponse<Output>;
  /** Aborts when the attempt must stop. */
  readonly signal: AbortSignal;
}

/** Options of an `AgentLoop`. */
export interface AgentLoopOptions<Request, Output, Result, Input> {
  /** Name of the loop: 1 to 64 letters, digits and `_ . -`, starting with a letter or digit. */
  readonly name: string;
  /**
   * Version of the loop: 1 to 32 letters, digits and `_ . -`. A worker runs only the versions it was given, so that an
   * old worker does not take a request that it does not understand. @default "1"
   */
  readonly version?: string | undefined;
  /** Validates requests, when they are enqueued and again when they run. */
  readonly request: Schema<Request, Input>;
  /**
   * Returns the prompt for a request. It runs on every attempt, possibly on different machines: it must have no side
   * effects, and return the same prompt for the same request.
   */
  readonly prepare: (
    request: Request,
    context: PrepareRunContext,
  ) => Prompt<Output> | PreparedRun<Output> | Promise<Prompt<Output> | PreparedRun<Output>>;
  /** The adapter, or a function that creates it when the first run starts. */
  readonly adapter: ProviderAdapter | (() => ProviderAdapter | Promise<ProviderAdapter>);
  /** Slices of the run's session. @default none */
  readonly slices?: readonly Slice[] | undefined;
  /** Limits of each run. */
  readonly limits?: LoopLimits | undefined;
  /**
   * Turns the output into the result of the run, which must be JSON. If its process is lost, it runs again: make it
   * idempotent. @default returns the output
   */
  readonly finalize?:
    | ((output: Output, context: FinalizeContext<Output>) => Result | Promise<Result>)
    | undefined;
  /**
   * Decides about calls that need approval. @default parks the run on a fleet, denies in `execute`
   */
  readonly approve?: Approver | undefined;
}
