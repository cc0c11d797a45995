import type { WorkspaceManifest } from "../prompt/sections/workspace-slice.ts";
import type { EventStamp } from "./event-stamp.ts";

declare module "../session/event-map.ts" {
  /** Events that let an evaluation continue in another process. */
  interface EventMap {
    /** An evaluation started, or was resumed. */
    EvaluationStarted: EvaluationStarted;
    /** A `once` tool is about to be called. */
    ToolStarted: ToolStarted;
    /** The provider accepted a response to run in the background. */
    TurnSubmitted: TurnSubmitted;
    /** The provider no longer has a response, and the turn is sent again. */
    TurnResubmitted: TurnResubmitted;
    /** Files of a workspace were stored. */
    WorkspaceKept: WorkspaceKept;
    /** A container no longer retains data. */
    DataReleased: DataReleased;
    /** Files are being copied. */
    WorkspaceProgressed: WorkspaceProgressed;
  }
}

/** Published when an evaluation has claimed its session, before its first request. Not in nested evaluations. */
export interface EvaluationStarted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "EvaluationStarted";
  /** Digest of the user's input; `null` without input. */
  readonly inputDigest: string | null;
  /** Whether it continues an evaluation that was interrupted. */
  readonly isResumed: boolean;
}

/**
 * Published and stored before a tool with `effects: "once"` is called. A call that was started and
 * has no `ToolInvoked` is not run again.
 */
export interface ToolStarted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "ToolStarted";
  /** Name of the tool. */
  readonly name: string;
  /** Id of the call. */
  readonly callId: string;
}

/** Published and stored when the provider has accepted a response in the background. */
export interface TurnSubmitted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "TurnSubmitted";
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** The provider's id of the response. */
  readonly responseId: string;
}

/** Published when the provider no longer has a submitted response, before the turn is sent again. */
export interface TurnResubmitted extends EventStamp {
  /** Discriminates the event. */
  readonly type: "TurnResubmitted";
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** The provider's id of the lost response. */
  readonly responseId: string;
}

/** Published and stored when the files of a workspace have been kept. */
export interface WorkspaceKept extends EventStamp {
  /** Discriminates the event. */
  readonly type: "WorkspaceKept";
  /** The files that were kept. */
  readonly manifest: WorkspaceManifest;
}

/** Published when a container that retained data of a conversation with zero data retention was deleted. */
export interface DataReleased extends EventStamp {
  /** Discriminates the event. */
  readonly type: "DataReleased";
  /** The container. */
  readonly containerId: string;
}

/**
 * Published once a second while a copy, an upload or a download takes longer than a second. Slices do not
 * receive it, and it is never stored.
 */
export interface WorkspaceProgressed extends EventStamp {
  /** Discriminates the event. */
  readonly type: "WorkspaceProgressed";
  /** The work in progress. */
  readonly step: "copy" | "pack" | "upload" | "unpack" | "fetch";
  /** Bytes that are done. */
  readonly doneBytes: number;
  /** Bytes in total. */
  readonly totalBytes: number;
}
