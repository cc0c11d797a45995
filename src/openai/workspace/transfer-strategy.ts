import type { ThrottleError } from "../../base/evaluation-errors.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { Mirror } from "./mirror.ts";
import type { TransferStep, WorkspaceConnection } from "./workspace-connection.ts";

/** The mirror and connection that a strategy uses. */
export interface StrategyParts {
  readonly mirror: Mirror;
  readonly connection: WorkspaceConnection;
}

/** A transfer into a new container. */
export interface FillStep extends TransferStep {
  /** Called when the next stage of filling the container starts. */
  report(state: FillState): void;
}

/** The result of downloading the changes that code made. */
export interface PullResult {
  readonly failed: readonly SyncFailure[];
  /** Whether another attempt would download nothing more. */
  readonly isComplete: boolean;
  /** The error of a download that stayed throttled, after which no other was started. @default none */
  readonly throttled?: ThrottleError | null | undefined;
}

/**
 * Uploads the mirror's files to a container and downloads the changes that code makes. The provider's
 * API accepts only single files without folders; a strategy hides that.
 */
export interface TransferStrategy {
  /** Whether a write is uploaded immediately. Otherwise it waits for the next request. */
  readonly writesThrough: boolean;
  /** Whether changes are found in the provider's file list, which lacks modes, folders and symlinks. */
  readonly usesFileList: boolean;
  /** Uploads all files of the mirror to a new container. Returns the number of files. */
  fill(step: FillStep): Promise<number>;
  /** Uploads the local changes at these paths. */
  push(touched: ReadonlySet<string>, step: TransferStep): Promise<void>;
  /** Downloads the files that code created or changed, and applies its deletions. Skips `touched` paths. */
  pull(touched: ReadonlySet<string>, step: TransferStep): Promise<PullResult>;
  /** Returns the notes that the model must read before it continues. */
  collectNotes(step: TransferStep): Promise<readonly string[]>;
  /** Called with the output of code that the model ran. */
  onCodeOutput(printed: string): void;
}

/**
 * How files get into a container. `"bootstrap"`: one archive, unpacked by a short extra request.
 * `"prompt"`: one archive, which the model is instructed to unpack. `"files"`: one upload per file. Only
 * `"bootstrap"` finds modes, empty folders and symlinks that code makes; the others read the provider's
 * file list, which lacks them.
 */
export type Unpack = "bootstrap" | "prompt" | "files";

/** The stages of filling a new container. */
export type FillState = "uploading" | "unpacking";
