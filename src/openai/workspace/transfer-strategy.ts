import type { PullResult } from "./transfer/pull-result.ts";
import type { TransferStep } from "./workspace-connection.ts";

/** A transfer into a new container. */
export interface FillStep extends TransferStep {
  /** Called when the next stage of filling the container starts. */
  report(state: FillState): void;
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

/** The stages of filling a new container. */
export type FillState = "uploading" | "unpacking";
