import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import type { Clock } from "../../base/clock.ts";
import type { ThrottleKind } from "../../base/evaluation-errors.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { FakeClock } from "../fake-clock.ts";
import type { ScriptedHostedCall, ScriptedToolCall } from "../scripted-turn.ts";

/** What the model behind an adapter under contract does, request by request. */
export type ContractTurn = ContractAnswer | ContractThrottle | ContractStall;

/** The model answers, or calls tools. */
export interface ContractAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Always of kind `"web_search"`, named as the prompt names it. */
  readonly hostedCalls?: readonly ScriptedHostedCall[];
  readonly usage?: Partial<TokenUsage>;
  /**
   * Python that the model runs where its workspace is, which the subject makes known as `ROOT`; the
   * next turn comes after it. Only in cases with a workspace, and there alone in its turn.
   */
  readonly code?: string;
}

/** The provider refuses for now. */
export interface ContractThrottle {
  readonly throttle: { readonly kind: ThrottleKind; readonly retryAfterMs?: number };
}

/** The provider takes the request and never answers. */
export interface ContractStall {
  readonly stall: true;
}

/** An adapter whose model plays a script. */
export interface ContractSubject {
  readonly adapter: ProviderAdapter;
  /** Each request as text, in any form that holds the prompt and what tools gave back. */
  asked(): readonly string[];
  /** Releases what was made for it. */
  close?(): void | Promise<void>;
}

/** Makes an adapter for one case: its model plays `script`, its waits go by `clock`. */
export type MakeSubject = (
  script: readonly ContractTurn[],
  options: {
    readonly clock: Clock;
    /** Conversations of more tokens are to be made shorter; else they are not. */
    readonly compactsOver?: number | undefined;
  },
) => ContractSubject | Promise<ContractSubject>;

/** One thing every adapter must do. */
export interface ContractCase {
  /** A sentence that holds. */
  readonly name: string;
  readonly script: readonly ContractTurn[];
  /** Only with an adapter that makes longer conversations shorter. */
  readonly compactsOver?: number;
  check(subject: ContractSubject & { readonly clock: FakeClock }): Promise<void>;
}
