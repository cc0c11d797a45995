import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import type { ContainerCalls } from "../http/container-calls.ts";
import type { Patience } from "../http/patience.ts";
import type { Mirror } from "./mirror.ts";

/** What a placement works with. */
export interface PlacementParts {
  readonly mirror: Mirror;
  readonly calls: () => ContainerCalls;
  readonly patience: () => Patience;
}

/** What a step of a placement may take into account. */
export interface PlacementStep {
  readonly containerId: string;
  readonly signal: AbortSignal;
}

/** What was fetched of what code has done. */
export interface Pulled {
  readonly failed: readonly SyncFailure[];
  /** Whether nothing is left that another try might fetch. */
  readonly isWhole: boolean;
}

/**
 * How the mirror's files come into a container, and how what code does to them comes back. The
 * provider takes single files, without folders: this is what lies between the two.
 */
export interface Placement {
  /** Whether what is written goes up at once; else it waits for the next request. */
  readonly writesThrough: boolean;
  /** Brings all of the mirror into a new container, and says how many files that is. */
  fill(step: PlacementStep & { report(state: FillState): void }): Promise<number>;
  /** Brings up what was touched here since. Gives what the model is to be told. */
  push(touched: ReadonlySet<string>, step: PlacementStep): Promise<void>;
  /** Brings back what code has made, changed or deleted. */
  pull(touched: ReadonlySet<string>, step: PlacementStep): Promise<Pulled>;
  /** What the model must read before it goes on. */
  notes(step: PlacementStep): Promise<readonly string[]>;
  /** Looks at what code printed. */
  heard(printed: string): void;
}

/** How files come into a container: by a short request of ours, by the model, or one by one. */
export type Unpack = "bootstrap" | "prompt" | "files";

/** How far a new container is. */
export type FillState = "uploading" | "unpacking";
