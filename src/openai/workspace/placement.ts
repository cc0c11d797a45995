import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import type { Mirror } from "./mirror.ts";
import type { TransferStep, WorkspaceConnection } from "./workspace-connection.ts";

/** What a placement works with. */
export interface PlacementParts {
  readonly mirror: Mirror;
  readonly connection: WorkspaceConnection;
}

/** A transfer into a container that is new. */
export interface FillStep extends TransferStep {
  /** Called when the next part of the filling begins. */
  report(state: FillState): void;
}

/** What was downloaded of the changes that code made. */
export interface Pulled {
  readonly failed: readonly SyncFailure[];
  /** Whether there is nothing left that another try might download. */
  readonly isWhole: boolean;
}

/**
 * How the mirror's files get into a container, and how the changes that code makes come back. The
 * provider's API takes single files without folders; a placement hides that.
 */
export interface Placement {
  /** Whether a write is uploaded at once; else it waits for the next request. */
  readonly writesThrough: boolean;
  /** Uploads everything in the mirror to a new container. Returns the number of files. */
  fill(step: FillStep): Promise<number>;
  /** Uploads what was changed here since. */
  push(touched: ReadonlySet<string>, step: TransferStep): Promise<void>;
  /** Downloads what code has created, changed or deleted. */
  pull(touched: ReadonlySet<string>, step: TransferStep): Promise<Pulled>;
  /** What the model must read before it continues. */
  notes(step: TransferStep): Promise<readonly string[]>;
  /** Called with the output of code that the model ran. */
  heard(printed: string): void;
}

/** How files get into a container: with a short request of ours, by the model, or one by one. */
export type Unpack = "bootstrap" | "prompt" | "files";

/** The steps in which a new container is filled. */
export type FillState = "uploading" | "unpacking";
