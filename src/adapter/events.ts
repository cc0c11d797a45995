import type { Clock } from "../base/clock.ts";
import type { JsonSchema } from "../base/schema/schema.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { Session } from "../session/session.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { FinishReason, HistoryStep, HostedCall, ToolCall } from "./model-client.ts";

declare module "../session/event-map.ts" {
  /** Events that adapters publish. */
  interface EventMap {
    /** A prompt was rendered. */
    PromptRendered: PromptRendered;
    /** A request is about to be sent. */
    TurnStarted: TurnStarted;
    /** A response was received. */
    TurnCompleted: TurnCompleted;
    /** A tool ran. */
    ToolInvoked: ToolInvoked;
    /** An evaluation produced its answer. */
    PromptExecuted: PromptExecuted;
    /** A hosted tool was omitted. */
    HostedToolOmitted: HostedToolOmitted;
    /** An override was not applied. */
    OverrideSkipped: OverrideSkipped;
    /** Items were dropped from a conversation. */
    HistoryRepaired: HistoryRepaired;
    /** A lost container was replaced. */
    ContainerReplaced: ContainerReplaced;
    /** Files could not be unpacked in a container. */
    UnpackingFailed: UnpackingFailed;
    /** A workspace was copied back to the host. */
    WorkspaceSynced: WorkspaceSynced;
    /** A conversation was compacted. */
    ContextCompacted: ContextCompacted;
    /** A compacted conversation was stored. */
    CompactionKept: CompactionKept;
    /** A compacted conversation was discarded. */
    CompactionDiscarded: CompactionDiscarded;
    /** A conversation could not be compacted. */
    CompactionFailed: CompactionFailed;
    /** A container retains data despite zero data retention. */
    DataHeld: DataHeld;
  }
}

/** Fields that every event of an evaluation has. */
export interface EventStamp {
  /** Id of the session. */
  readonly sessionId: string;
  /** Name of the evaluated prompt. */
  readonly promptName: string;
  /** Name of the adapter, such as `"openai"`. */
  readonly adapter: string;
  /** When the event was created, in ISO 8601. */
  readonly createdAt: string;
}

/** Published when a prompt has been rendered, before the first request. */
export interface PromptRendered extends EventStamp {
  /** Discriminates the event. */
  readonly type: "PromptRendered";
  /** The rendered prompt. */
  readonly text: string;
  /** Tools that run locally or are declared by a tool class, with their JSON Schemas. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly params: JsonSchema;
  }[];
  /** Tools that the provider runs. */
  readonly hostedTools: readonly { readonly name: string; readonly kind: string }[];
}

/** Published before a request is sent. */
export interface TurnStarted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "TurnStarted";
  /** Number of the turn, starting at 1. */
  readonly turn: number;
}

/** Published when a request has been answered, before its calls run. */
export interface TurnCompleted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "TurnCompleted";
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** The model's text. */
  readonly text: string;
  /** Calls to run locally. */
  readonly toolCalls: readonly ToolCall[];
  /** Calls that the provider has run. */
  readonly hostedCalls: readonly HostedCall[];
  /** Tokens used by the request. */
  readonly usage: TokenUsage;
  /** Duration of the request in milliseconds, including retries. */
  readonly durationMs: number;
  /** The provider's id of the request, if any. */
  readonly requestId: string | null;
  /**
   * How the stored conversation changed, if the adapter stores one. Absent in nested evaluations.
   */
  readonly history?: HistoryStep | undefined;
}

/** Published when a tool has run, locally or at the provider. */
export interface ToolInvoked extends EventStamp {
  /** Discriminates the event. */
  readonly type: "ToolInvoked";
  /** Name of the tool. */
  readonly name: string;
  /** Id of the call. */
  readonly callId: string;
  /** Validated params, or a `RejectedToolParams` if they were invalid. */
  readonly params: unknown;
  /** The tool's result. */
  readonly result: ToolResult<unknown>;
  /** The result's value as text. */
  readonly renderedOutput: string;
  /** Tokens used by the turn that made the call. Calls in the same turn have the same value. */
  readonly usage: TokenUsage | null;
  /** Duration in milliseconds, or `null` if the provider ran the call. */
  readonly durationMs: number | null;
  /** Where the call ran. Only on calls that the provider ran. */
  readonly origin?: HostedOrigin;
}

/** Where the provider ran a hosted call. */
export interface HostedOrigin {
  /** Always `"provider"`. */
  readonly execution: "provider";
  /** Name of the provider. */
  readonly provider: string;
  /** Kind of the hosted tool, such as `"web_search"`. */
  readonly capability: string;
  /** Container in which the call ran, if the provider reports it. */
  readonly containerId?: string;
}

/** Arguments that do not match the tool's params. */
export interface RejectedToolParams {
  /** Always `true`. Distinguishes this from valid params. */
  readonly rejected: true;
  /** The arguments as the model or the provider sent them. */
  readonly given: unknown;
  /** Describes the problem. */
  readonly problem: string;
}

/** Published when a prompt has been answered. */
export interface PromptExecuted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "PromptExecuted";
  /** The model's answer. */
  readonly text: string;
  /** Tokens used by all turns together. */
  readonly usage: TokenUsage;
  /** Why the model stopped. */
  readonly finishReason: FinishReason;
  /** The model that answered, or `null` if the provider does not report it. */
  readonly model: string | null;
  /** The provider's ids of all requests. */
  readonly requestIds: readonly string[];
  /** Number of turns. */
  readonly turns: number;
  /** Cost in US dollars, as estimated by the provider. Absent if it reports none. */
  readonly costUsd?: number;
}

/** Published when a hosted tool of the prompt is omitted from the request. */
export interface HostedToolOmitted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "HostedToolOmitted";
  /** Name of the tool. */
  readonly name: string;
  /** Kind of the tool. */
  readonly kind: string;
  /** Why the tool is omitted. */
  readonly reason: string;
}

/** Published when a loaded override is not applied, because it was written for different text. */
export interface OverrideSkipped extends EventStamp {
  /** Discriminates the event. */
  readonly type: "OverrideSkipped";
  /** The override's target: `"section task.limits"` or `"tool add"`. */
  readonly of: string;
  /** Why the override is skipped. */
  readonly reason: string;
}

/** Published when items that the provider would reject are dropped from a conversation. */
export interface HistoryRepaired extends EventStamp {
  /** Discriminates the event. */
  readonly type: "HistoryRepaired";
  /** Why the items were dropped. */
  readonly reason: string;
  /** The dropped items, without their content. */
  readonly dropped: readonly DroppedItem[];
}

/** The type and id of a dropped item, without its content. */
export interface DroppedItem {
  /** The provider's type of the item. */
  readonly type: string;
  /** The provider's id of the item, if any. */
  readonly id: string | null;
}

/** Published when a workspace's container was lost and has been replaced. */
export interface ContainerReplaced extends EventStamp {
  /** Discriminates the event. */
  readonly type: "ContainerReplaced";
  /** The lost container. */
  readonly containerId: string;
  /** The new container. */
  readonly replacedBy: string;
  /** The provider's response to the request that failed. */
  readonly reason: string;
  /** Number of files restored in the new container. */
  readonly restored: number;
  /**
   * Everything lost: at least the memory of running code. Entries that could not be copied from the lost
   * container, such as symlinks, are listed by path, up to 1,000.
   */
  readonly lost: readonly string[];
}

/** Published when files could not be unpacked in a container and were uploaded one by one. */
export interface UnpackingFailed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "UnpackingFailed";
  /** The container. */
  readonly containerId: string;
  /** Why the files could not be unpacked. */
  readonly reason: string;
}

/** Published when a workspace's files have been copied back to the host. */
export interface WorkspaceSynced extends EventStamp {
  /** Discriminates the event. */
  readonly type: "WorkspaceSynced";
  /** The folder on the host. */
  readonly directory: string;
  /** Paths of new files. */
  readonly added: readonly string[];
  /** Paths of changed files. */
  readonly changed: readonly string[];
  /** Paths of deleted files. */
  readonly deleted: readonly string[];
  /** Paths that could not be synced, with the reasons. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/** Published when a conversation has been compacted. */
export interface ContextCompacted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "ContextCompacted";
  /** Tokens of the conversation before the compaction. */
  readonly tokensBefore: number;
  /** Tokens of the compacted conversation, or `null` if the provider does not report it. */
  readonly tokensAfter: number | null;
  /** How it was compacted. `"sdk"` means by the agent's own runtime. */
  readonly strategy: "endpoint" | "server" | "sdk";
  /** Tokens used by the compaction itself. `null` if the server compacted during a turn. */
  readonly usage: TokenUsage | null;
  /** Number of items before and after, or `null` if the runtime does not report it. */
  readonly itemsBefore: number | null;
  /** Number of items after the compaction, or `null` if the runtime does not report it. */
  readonly itemsAfter: number | null;
  /** Length of the content that only the provider can read. */
  readonly encryptedLength: number;
}

/** Stores the compacted conversation in the session. Not meant to be read. */
export interface CompactionKept extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionKept";
  /** The model for which the conversation was compacted. */
  readonly model: string;
  /** Tokens of the compacted conversation. */
  readonly tokens: number;
  /** The compacted items. */
  readonly window: readonly object[];
}

/** Published when a stored compacted conversation is discarded. */
export interface CompactionDiscarded extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionDiscarded";
  /** Why it is discarded. */
  readonly reason: string;
}

/** Published when the conversation could not be compacted after an answer. */
export interface CompactionFailed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "CompactionFailed";
  /** Tokens of the conversation. */
  readonly tokenCount: number;
  /** Why the compaction failed. */
  readonly reason: string;
}

/** Published when a container retains data of a conversation with zero data retention. */
export interface DataHeld extends EventStamp {
  /** Discriminates the event. */
  readonly type: "DataHeld";
  /** The container. */
  readonly containerId: string;
  /** Describes when the data is removed. */
  readonly until: string;
}

/** Identifies the publisher of events. */
export interface EventPublisher {
  readonly session: Session;
  readonly prompt: { readonly name: string };
  /** Name of the provider, as it appears in events. */
  readonly adapterName: string;
  readonly clock: Clock;
}

/** An event of the loop without its stamp. */
export type AdapterEvent =
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

/** Adds the stamp to an event and dispatches it on the session. */
export function publishEvent(
  { session, prompt, adapterName, clock }: EventPublisher,
  event: AdapterEvent,
): void {
  const stamp: EventStamp = {
    sessionId: session.id,
    promptName: prompt.name,
    adapter: adapterName,
    createdAt: new Date(clock.now()).toISOString(),
  };
  session.dispatch(Object.freeze({ ...stamp, ...event }));
}
