import type { JsonSchema } from "../base/schema.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { FinishReason, HistoryStep, HostedCall, ToolCall } from "./model-client.ts";

declare module "../session/event-bus.ts" {
  interface EventMap {
    PromptRendered: PromptRendered;
    TurnStarted: TurnStarted;
    TurnCompleted: TurnCompleted;
    ToolInvoked: ToolInvoked;
    PromptExecuted: PromptExecuted;
    HostedToolOmitted: HostedToolOmitted;
    OverrideSkipped: OverrideSkipped;
    HistoryRepaired: HistoryRepaired;
  }
}

/** What every event of an evaluation carries. */
export interface EventStamp {
  readonly sessionId: string;
  readonly promptName: string;
  readonly adapter: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A prompt became text, before anything was sent. */
export interface PromptRendered extends EventStamp {
  readonly type: "PromptRendered";
  readonly text: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly params: JsonSchema;
  }[];
  readonly hostedTools: readonly { readonly name: string; readonly kind: string }[];
}

/** A request is about to be sent. */
export interface TurnStarted extends EventStamp {
  readonly type: "TurnStarted";
  /** Counted from 1. */
  readonly turn: number;
}

/** A request was answered; its calls have not been looked at yet. */
export interface TurnCompleted extends EventStamp {
  readonly type: "TurnCompleted";
  readonly turn: number;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly hostedCalls: readonly HostedCall[];
  readonly usage: TokenUsage;
  readonly durationMs: number;
  readonly requestId: string | null;
  /** How the stored conversation goes on, where the adapter keeps one; not within a handler. */
  readonly history?: HistoryStep | undefined;
}

/** A tool ran, here or at the provider: the same event, which then says where it came from. */
export interface ToolInvoked extends EventStamp {
  readonly type: "ToolInvoked";
  readonly name: string;
  readonly callId: string;
  /** Validated; a `RejectedToolParams` where they were not fit. */
  readonly params: unknown;
  readonly result: ToolResult<unknown>;
  /** The result's value as text. */
  readonly renderedOutput: string;
  /** Of the turn that called it: calls of one turn share it. */
  readonly usage: TokenUsage | null;
  /** `null` where the provider ran it. */
  readonly durationMs: number | null;
  /** Only on hosted calls. */
  readonly origin?: HostedOrigin;
}

/** Who ran a hosted call, and where. */
export interface HostedOrigin {
  readonly execution: "provider";
  readonly provider: string;
  readonly capability: string;
  readonly containerId?: string;
}

/** What the model wrote as arguments, where that does not fit the tool's params. */
export interface RejectedToolParams {
  readonly rejected: true;
  readonly given: unknown;
  readonly problem: string;
}

/** A prompt was answered. */
export interface PromptExecuted extends EventStamp {
  readonly type: "PromptExecuted";
  readonly text: string;
  readonly usage: TokenUsage;
  readonly finishReason: FinishReason;
  readonly model: string | null;
  readonly requestIds: readonly string[];
  readonly turns: number;
}

/** A hosted tool of the prompt was left out of the request. */
export interface HostedToolOmitted extends EventStamp {
  readonly type: "HostedToolOmitted";
  readonly name: string;
  readonly kind: string;
  readonly reason: string;
}

/** An override was loaded and not applied, because it was written for something else. */
export interface OverrideSkipped extends EventStamp {
  readonly type: "OverrideSkipped";
  /** `"section task.limits"` or `"tool add"`. */
  readonly of: string;
  readonly reason: string;
}

/** Part of a conversation was dropped, because the provider would not have taken it. */
export interface HistoryRepaired extends EventStamp {
  readonly type: "HistoryRepaired";
  readonly reason: string;
  readonly dropped: readonly DroppedItem[];
}

/** What an item was, without what it held. */
export interface DroppedItem {
  /** In the provider's word. */
  readonly type: string;
  readonly id: string | null;
}
