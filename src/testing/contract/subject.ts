import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import type { Clock } from "../../base/clock.ts";
import type { ThrottleKind } from "../../base/evaluation-errors.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { FakeClock } from "../fake-clock.ts";
import type { ScriptedHostedCall, ScriptedToolCall } from "../scripted-turn.ts";

/** One scripted response of the model behind an adapter under test. */
export type ContractTurn = ContractAnswer | ContractThrottle | ContractStall;

/** The model answers, or calls tools. */
export interface ContractAnswer {
  /** Text of the answer. */
  readonly text?: string;
  /** Calls to local tools. */
  readonly toolCalls?: readonly ScriptedToolCall[];
  /**
   * Calls that the provider ran, always of kind `"web_search"`, with the tool's name in the prompt.
   */
  readonly hostedCalls?: readonly ScriptedHostedCall[];
  /** Token usage of the turn. */
  readonly usage?: Partial<TokenUsage>;
  /**
   * Python code that the model runs in its workspace, whose path the subject defines as `ROOT`. The
   * next turn follows it. Used only in cases with a workspace, where it is the only member of its
   * turn.
   */
  readonly code?: string;
}

/** The provider throttles the request. */
export interface ContractThrottle {
  /** Kind of throttling, and the provider's Retry-After time. */
  readonly throttle: {
    /** Why the provider throttles. */
    readonly kind: ThrottleKind;
    /** The provider's Retry-After time in milliseconds. */
    readonly retryAfterMs?: number;
  };
}

/** The provider accepts the request and never answers. */
export interface ContractStall {
  /** Marks the turn as stalled. */
  readonly stall: true;
}

/** An adapter whose model plays a script. */
export interface ContractSubject {
  /** The adapter under test. */
  readonly adapter: ProviderAdapter;
  /**
   * Returns each request as text, in any form that contains the prompt, the input and the tool
   * results, in the order in which the model reads them.
   */
  asked(): readonly string[];
  /** Releases all resources of the test. */
  close?(): void | Promise<void>;
}

/** Creates an adapter for one case. Its model plays `script`, and it waits by `clock`. */
export type MakeSubject = (
  script: readonly ContractTurn[],
  options: {
    readonly clock: Clock;
    /**
     * Compacts conversations with more tokens than this. If omitted, conversations are not
     * compacted.
     */
    readonly compactsOver?: number | undefined;
  },
) => ContractSubject | Promise<ContractSubject>;

/** One requirement of every adapter. */
export interface ContractCase {
  /** Title of the test. */
  readonly name: string;
  readonly script: readonly ContractTurn[];
  /** Requires an adapter that compacts longer conversations. */
  readonly compactsOver?: number;
  check(subject: ContractSubject & { readonly clock: FakeClock }): Promise<void>;
}
