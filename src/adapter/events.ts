import { checkCallFence } from "../base/call-fence.ts";
import type { Clock } from "../base/clock.ts";
import type { EvaluationPhase } from "../base/evaluation-errors.ts";
import type { JsonSchema } from "../base/schema/schema.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { PromptMessage } from "../prompt/rendered-prompt.ts";
import { hearsEvent, type Session } from "../session/session.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type {
  ContainerReplaced,
  DataHeld,
  UnpackingFailed,
  WorkspaceSynced,
} from "./container-replaced.ts";
import type {
  CompactionDiscarded,
  CompactionFailed,
  CompactionKept,
  CompactionMeasured,
  ContextCompacted,
} from "./context-compacted.ts";
import type {
  DataReleased,
  EvaluationStarted,
  ToolStarted,
  TurnResubmitted,
  TurnSubmitted,
  WorkspaceKept,
  WorkspaceProgressed,
} from "./durable-events.ts";
import type { EgressReported } from "./egress/egress-reported.ts";
import type { EventStamp } from "./event-stamp.ts";
import type {
  DelegatedCallData,
  FinishReason,
  HistoryStep,
  HostedCall,
  ToolCall,
} from "./model-client.ts";

declare module "../session/event-map.ts" {
  /** Events that adapters publish. */
  interface EventMap {
    /** A prompt was rendered. */
    PromptRendered: PromptRendered;
    /** A request is about to be sent. */
    TurnStarted: TurnStarted;
    /** A response is being received, or waited for. */
    TurnProgressed: TurnProgressed;
    /** A response was received. */
    TurnCompleted: TurnCompleted;
    /** A turn changed the stored conversation. */
    HistoryAdvanced: HistoryAdvanced;
    /** A tool ran. */
    ToolInvoked: ToolInvoked;
    /** An evaluation produced its answer. */
    PromptExecuted: PromptExecuted;
    /** An evaluation failed. */
    PromptFailed: PromptFailed;
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
    /** The effect of a compaction turned out to differ from its estimate. */
    CompactionMeasured: CompactionMeasured;
    /** A compacted conversation was discarded. */
    CompactionDiscarded: CompactionDiscarded;
    /** A conversation could not be compacted. */
    CompactionFailed: CompactionFailed;
    /** A container retains data despite zero data retention. */
    DataHeld: DataHeld;
  }
}

/**
 * Published when a prompt has been rendered, before the first request, and again when a section was
 * opened or closed.
 */
export interface PromptRendered extends EventStamp {
  /** Discriminates the event. */
  readonly type: "PromptRendered";
  /** The rendered prompt: the texts of `messages`. */
  readonly text: string;
  /** The rendered prompt by role: at most one message per role, and the system's before the user's. */
  readonly messages: readonly PromptMessage[];
  /** The text of the user's input, without its attachments; `null` if it has none. */
  readonly input: string | null;
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

/**
 * Published while a response arrives: whenever a hosted call changes its status, and once a second
 * otherwise, also while nothing arrives. Slices do not receive it, and it is never stored. A bus whose
 * `hears` returns `false` for it saves the work.
 */
export interface TurnProgressed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "TurnProgressed";
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** Time since `TurnStarted` in milliseconds. */
  readonly elapsedMs: number;
  /** Bytes of the response that have arrived. */
  readonly receivedBytes: number;
  /** The provider's name of what arrived last, such as an event's type. Empty before anything did. */
  readonly last: string;
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
  /** Calls that the provider has run. Encrypted content and long base64 in `raw` are shortened. */
  readonly hostedCalls: readonly HostedCall[];
  /** Tokens used by the request. */
  readonly usage: TokenUsage;
  /** Duration of the request in milliseconds, including retries. */
  readonly durationMs: number;
  /** The provider's id of the request, if any. */
  readonly requestId: string | null;
  /** Why the model stopped. Absent in sessions that release 0.2.0 or an earlier one stored. */
  readonly finishReason?: FinishReason;
  /** Why the model stopped early, in the provider's terms. Absent if the provider reports none. */
  readonly stopReason?: string;
  /** The provider's id of the response, if any. */
  readonly responseId?: string | null;
  /** The model that responded, if the provider reports it. */
  readonly model?: string | null;
  /** Citations in `text`. Absent without citations. */
  readonly citations?: readonly Citation[];
  /** Set if the provider continues without input, so that this turn is not the answer. */
  readonly continues?: true;
  /**
   * Cost in US dollars: the provider's figure, or an estimate from the price table. Absent if the model has no
   * price.
   */
  readonly costUsd?: number;
  /** Calls of hosted tools that the provider delegates to this process. Absent if there are none. */
  readonly delegatedCalls?: readonly DelegatedCallData[];
}

/**
 * Stores how a turn changed the conversation, in the provider's own items, sealed reasoning included.
 * Dispatched together with `TurnCompleted`, and alone for a compaction after the last answer or, in a
 * stored session, between two turns. Not dispatched in nested evaluations. `"*"` subscribers do not receive it.
 */
export interface HistoryAdvanced extends EventStamp, HistoryStep {
  /** Discriminates the event. */
  readonly type: "HistoryAdvanced";
  /** Number of the last completed turn, starting at 1. */
  readonly turn: number;
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
  /** The tool's result. In a stored session, a value that is not JSON is converted to JSON. */
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
  /**
   * Cost in US dollars: the provider's figure, or an estimate from the price table. Absent if the model has no
   * price.
   */
  readonly costUsd?: number;
}

/**
 * Published when an evaluation ends with an error, or is cancelled. Every `PromptRendered` is followed
 * by `PromptExecuted` or `PromptFailed`.
 */
export interface PromptFailed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "PromptFailed";
  /** Class name of the error, such as `"ThrottleError"`. */
  readonly errorName: string;
  /** The error's message. */
  readonly message: string;
  /** The phase in which the evaluation failed; `null` if the error has none. */
  readonly phase: EvaluationPhase | null;
  /** Tokens used by the completed turns. */
  readonly usage: TokenUsage;
  /** Cost of the completed turns in US dollars. Absent if it is unknown. */
  readonly costUsd?: number;
  /** Number of completed turns. */
  readonly turns: number;
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

/** Identifies the publisher of events. */
export interface EventPublisher {
  readonly session: Session;
  readonly prompt: { readonly name: string };
  /** Name of the provider, as it appears in events. */
  readonly adapterName: string;
  readonly clock: Clock;
  /** Whether a tool handler started the evaluation. @default false */
  readonly isNested?: boolean | undefined;
}

/** An event of the loop without its stamp. */
export type AdapterEvent =
  | Unstamped<PromptRendered>
  | Unstamped<TurnStarted>
  | Unstamped<TurnCompleted>
  | Unstamped<HistoryAdvanced>
  | Unstamped<ToolInvoked>
  | Unstamped<PromptExecuted>
  | Unstamped<PromptFailed>
  | Unstamped<EgressReported>
  | Unstamped<HostedToolOmitted>
  | Unstamped<OverrideSkipped>
  | Unstamped<HistoryRepaired>
  | Unstamped<ContainerReplaced>
  | Unstamped<UnpackingFailed>
  | Unstamped<WorkspaceSynced>
  | Unstamped<ContextCompacted>
  | Unstamped<CompactionKept>
  | Unstamped<CompactionMeasured>
  | Unstamped<CompactionDiscarded>
  | Unstamped<CompactionFailed>
  | Unstamped<DataHeld>
  | Unstamped<DataReleased>
  | Unstamped<EvaluationStarted>
  | Unstamped<ToolStarted>
  | Unstamped<TurnSubmitted>
  | Unstamped<TurnResubmitted>
  | Unstamped<WorkspaceKept>
  | Unstamped<WorkspaceProgressed>;

type Unstamped<Event> = Omit<Event, keyof EventStamp>;

/**
 * Adds the stamp to events and dispatches them on the session. Several are stored together. Does nothing for events that
 * nothing hears.
 */
export function publishEvent(publisher: EventPublisher, ...events: readonly AdapterEvent[]): void {
  const { session } = publisher;
  const isHeard = ({ type }: AdapterEvent) => session[hearsEvent](type);
  if (!events.some(isHeard)) {
    checkCallFence("An event");
    return;
  }
  const stamp = createStamp(publisher);
  const heard = events.length === 1 ? events : events.filter(isHeard);
  const [first, ...others] = heard.map((each) => Object.freeze({ ...stamp, ...each }));
  if (first) session.dispatch(first, ...others);
}

function createStamp(publisher: EventPublisher): EventStamp {
  const { session, prompt, adapterName, clock, isNested = false } = publisher;
  const stamp = {
    sessionId: session.id,
    promptName: prompt.name,
    adapter: adapterName,
    createdAt: new Date(clock.now()).toISOString(),
  };
  return isNested ? { ...stamp, nested: true } : stamp;
}
