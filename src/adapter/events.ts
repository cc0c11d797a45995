import type { Clock } from "../base/clock.ts";
import type { JsonSchema } from "../base/schema/schema.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { Session } from "../session/session.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { FinishReason, HistoryStep, HostedCall, ToolCall } from "./model-client.ts";

declare module "../session/event-map.ts" {
  interface EventMap {
    PromptRendered: PromptRendered;
    TurnStarted: TurnStarted;
    TurnCompleted: TurnCompleted;
    ToolInvoked: ToolInvoked;
    PromptExecuted: PromptExecuted;
    HostedToolOmitted: HostedToolOmitted;
    OverrideSkipped: OverrideSkipped;
    HistoryRepaired: HistoryRepaired;
    ContainerReplaced: ContainerReplaced;
    UnpackingFailed: UnpackingFailed;
    WorkspaceSynced: WorkspaceSynced;
    ContextCompacted: ContextCompacted;
    CompactionKept: CompactionKept;
    CompactionDiscarded: CompactionDiscarded;
    CompactionFailed: CompactionFailed;
    DataHeld: DataHeld;
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
  /** In US dollars, by the provider's own estimate; left out where it gives none. */
  readonly costUsd?: number;
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

/** The container of a workspace was gone, and another one has taken its place. */
export interface ContainerReplaced extends EventStamp {
  readonly type: "ContainerReplaced";
  readonly containerId: string;
  readonly replacedBy: string;
  /** How the request that noticed it was answered. */
  readonly reason: string;
  /** How many files the new one has. */
  readonly restored: number;
  /** What could not be brought over, in words: at least what code held in memory. */
  readonly lost: readonly string[];
}

/** A workspace's files could not be unpacked in its container: they were uploaded one by one. */
export interface UnpackingFailed extends EventStamp {
  readonly type: "UnpackingFailed";
  readonly containerId: string;
  readonly reason: string;
}

/** The files of a workspace were brought back to this machine. */
export interface WorkspaceSynced extends EventStamp {
  readonly type: "WorkspaceSynced";
  readonly directory: string;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/** A conversation was made shorter. */
export interface ContextCompacted extends EventStamp {
  readonly type: "ContextCompacted";
  readonly tokensBefore: number;
  /** Of what it was compacted to; `null` where the provider does not say. */
  readonly tokensAfter: number | null;
  /** `"sdk"`: an agent's own runtime did it. */
  readonly strategy: "endpoint" | "server" | "sdk";
  /** What the compaction itself cost; of a turn in which the server did it, nothing is known. */
  readonly usage: TokenUsage | null;
  /** How many items there were, and how many there are; `null` where a runtime does not say. */
  readonly itemsBefore: number | null;
  readonly itemsAfter: number | null;
  /** How long what only the provider can read is. */
  readonly encryptedLength: number;
}

/** What a conversation goes on from: for the session to keep, not to be read. */
export interface CompactionKept extends EventStamp {
  readonly type: "CompactionKept";
  readonly model: string;
  readonly tokens: number;
  readonly window: readonly object[];
}

/** What was kept of an earlier conversation was let go. */
export interface CompactionDiscarded extends EventStamp {
  readonly type: "CompactionDiscarded";
  readonly reason: string;
}

/** An answer was had, and the conversation could not be made shorter after it. */
export interface CompactionFailed extends EventStamp {
  readonly type: "CompactionFailed";
  readonly tokenCount: number;
  readonly reason: string;
}

/** A container has data of a conversation of which the provider is to keep nothing. */
export interface DataHeld extends EventStamp {
  readonly type: "DataHeld";
  readonly containerId: string;
  /** When it is removed, in words. */
  readonly until: string;
}

/** Whose events these are. */
export interface Announcer {
  readonly session: Session;
  readonly prompt: { readonly name: string };
  /** The provider's name, as events give it. */
  readonly adapterName: string;
  readonly clock: Clock;
}

/** An event of the loop without who, what and when. */
export type Announcement =
  | Unstamped<PromptRendered>
  | Unstamped<TurnStarted>
  | Unstamped<TurnCompleted>
  | Unstamped<ToolInvoked>
  | Unstamped<PromptExecuted>
  | Unstamped<HostedToolOmitted>
  | Unstamped<OverrideSkipped>
  | Unstamped<HistoryRepaired>
  | Unstamped<ContainerReplaced>
  | Unstamped<UnpackingFailed>
  | Unstamped<WorkspaceSynced>
  | Unstamped<ContextCompacted>
  | Unstamped<CompactionKept>
  | Unstamped<CompactionDiscarded>
  | Unstamped<CompactionFailed>
  | Unstamped<DataHeld>;

type Unstamped<Event> = Omit<Event, keyof EventStamp>;

/** Stamps an event and dispatches it on the session. */
export function announce(
  { session, prompt, adapterName, clock }: Announcer,
  event: Announcement,
): void {
  const stamp: EventStamp = {
    sessionId: session.id,
    promptName: prompt.name,
    adapter: adapterName,
    createdAt: new Date(clock.now()).toISOString(),
  };
  session.dispatch(Object.freeze({ ...stamp, ...event }));
}
