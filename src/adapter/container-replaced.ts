import type { EventStamp } from "./event-stamp.ts";

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
  /** Paths whose host version stays, because it is not the mounted version. */
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
}

/** Published when a container retains data of a conversation with zero data retention. */
export interface DataHeld extends EventStamp {
  /** Discriminates the event. */
  readonly type: "DataHeld";
  /** The container. */
  readonly containerId: string;
  /** Describes when the data is removed. */
  readonly until: string;
  /** Set if you created the container, and must remove it. */
  readonly isCallers?: true | undefined;
}
