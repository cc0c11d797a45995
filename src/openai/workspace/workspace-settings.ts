import type { AdapterEvent } from "../../adapter/events.ts";
import type { ProgressListener } from "../../base/track-bytes.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import type { KeeperOptions } from "../../prompt/sections/find-kept-mounts.ts";
import type { OpenAIClient } from "../http/client.ts";
import type { ContainerSettings } from "./container-config.ts";
import type { Unpack } from "./unpack.ts";

/** The validated settings of a workspace. */
export interface WorkspaceSettings {
  readonly plan: MountPlan;
  readonly settings: ContainerSettings;
  /** The container's name at the provider. */
  readonly name: string;
  readonly unpack: Unpack;
  readonly syncPolicy: SyncPolicy;
  readonly syncDestination: string | null;
  /** The temporary folder of the files. @default a new one */
  readonly home?: string | undefined;
  /** What happens to a file that was changed on both sides. @default "keep" */
  readonly onConflict?: ConflictPolicy | undefined;
  readonly deleteOnCleanup: boolean;
  /** Where the files are kept for other processes. @default nowhere */
  readonly kept?: KeeperOptions | undefined;
  /** The client to use until an adapter evaluates the prompt. */
  readonly client: OpenAIClient | null;
  /** The file name of the archive with all files, which the prompt may mention. */
  readonly archive: string;
  /** Set for a workspace without a prompt, where code runs are not reported. @default none */
  readonly standalone?: StandaloneFiles | undefined;
}

/** The files for a workspace without a prompt. */
export interface StandaloneFiles {
  /** The path of an archive that is uploaded to every container as is. */
  readonly tarballPath?: string | undefined;
  /** A local folder with the archive's contents. @default a temporary folder that it is unpacked into */
  readonly root?: string | undefined;
}

/** The options of `ContainerWorkspace.bind`. */
export interface BindingOptions {
  publish(event: AdapterEvent): void;
  /** Whether to delete the container on cleanup, because the provider must retain nothing. */
  readonly isTransient: boolean;
  /** Called when a container was created, before it is filled. @default nothing */
  readonly onCreated?: ((id: string) => Promise<void>) | undefined;
  /** Called when a container was deleted. @default nothing */
  readonly onDeleted?: ((id: string) => void) | undefined;
  /** Called on cleanup, when the container was released. @default nothing */
  readonly onReleased?: (() => Promise<void>) | undefined;
  /** Returns the listener for a transfer that starts now, or `null`. @default no progress is reported */
  readonly findListener?: (() => ProgressListener | null) | undefined;
}

/** The container and notes for the next request. */
export interface PreparedWorkspace {
  readonly containerId: string | null;
  /** Notes that the model must read. */
  readonly notes: readonly string[];
  /** Notes that apply to every conversation. Each conversation sends them once. */
  readonly standingNotes: readonly string[];
}

/** The result of a request, as far as it concerns the workspace. */
export interface WorkspaceTurn {
  readonly notes: readonly string[];
  readonly hasCodeRun: boolean;
  readonly printed: string;
  /** The container that code ran in, or `null` if none ran. */
  readonly containerId: string | null;
}
