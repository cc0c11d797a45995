import { raceAbort } from "../../base/clock.ts";
import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerSettings } from "./container-config.ts";
import type { FillState, FillStep } from "./transfer-strategy.ts";
import type { TransferStep, WorkspaceConnection } from "./workspace-connection.ts";

/**
 * The state of a container: `absent` until it is first needed; `creating`, `uploading` and `unpacking`
 * while it is created and filled; `ready` while it is in use; `lost` when it no longer exists and the
 * next use creates another; finally `released`.
 */
export type ContainerState =
  | "absent"
  | "creating"
  | "uploading"
  | "unpacking"
  | "ready"
  | "lost"
  | "released";

/** The files that every new container is filled with, and their state when a container is lost. */
export interface ContainerContents {
  /** Prepares the files on the host, before a container is created for them. */
  ready(): Promise<void>;
  fill(step: FillStep): Promise<void>;
  readonly fileCount: number;
  /** Whether changes that code made were lost when the container was last filled. */
  readonly hasLostWork: boolean;
  /** The entries of the lost container that could not be copied from it, when another was last filled. */
  readonly lostEntries: readonly string[];
  /** Whether code may have made changes in the lost container that the provider does not list. */
  readonly hasUnlistedChanges: boolean;
  /** Whether files are uploaded one by one, under flat names. */
  readonly writesThrough: boolean;
}

/** The options of a `ContainerLifecycle`. */
export interface LifecycleOptions {
  readonly connection: WorkspaceConnection;
  readonly settings: ContainerSettings;
  /** The container's name at the provider. */
  readonly name: string;
  /** The files for the container. @default none: the container stays empty */
  readonly contents?: ContainerContents | undefined;
  /** Called when a container was created, before it is filled. @default nothing */
  readonly onCreated?: ((id: string) => Promise<void>) | undefined;
  /** Called when a container was deleted. @default nothing */
  readonly onDeleted?: ((id: string) => void) | undefined;
}

/** The state of the files in a replacement container. */
export interface ReplacedFiles {
  /** Whether changes that code made were lost because they had not been downloaded. */
  readonly isStale: boolean;
  /** Whether the files have flat names. */
  readonly isFlat: boolean;
  /** The entries that could not be copied from the lost container. */
  readonly lostEntries: readonly string[];
  /** Whether code may have made changes that the provider does not list. */
  readonly hasUnlistedChanges: boolean;
}

interface LostContainer {
  readonly containerId: string;
  readonly reason: string;
  /** Whether it was ever ready; `false` if it was lost while it was filled. */
  readonly hasServed: boolean;
}

/**
 * One container at the provider, from creation to release. It is created on first use. When it is
 * lost, it is created again and filled with the same files, at most once per operation.
 */
export class ContainerLifecycle {
  readonly #options: LifecycleOptions;
  readonly #released = new AbortController();
  /** Runs one transfer at a time, so that the known state of the files does not change during it. */
  readonly #transferLock = new SharedLock();
  #state: ContainerState = "absent";
  #id: string | null = null;
  #creation: Promise<string> | null = null;
  #lost: LostContainer | null = null;
  readonly #gone = new Set<string>();
  /** The containers that `release` could not delete. */
  #undeleted: readonly string[] = [];
  #replacements = 0;
  #pendingReplacement: ReplacedFiles | null = null;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** The container's id, or `null` if there is none. */
  get containerId(): string | null {
    return this.#id;
  }

  get state(): ContainerState {
    return this.#state;
  }

  /** The ids of the containers that no longer exist. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** The replacement that the model has not been notified of yet. */
  get pendingReplacement(): ReplacedFiles | null {
    return this.#pendingReplacement;
  }

  /** Called when the model was notified of the replacement. */
  clearPendingReplacement(): void {
    this.#pendingReplacement = null;
  }

  /** Creates the container if there is none, once for concurrent callers. Returns its id. */
  async ensure({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    if (this.#state === "released") throw createReleasedError();
    if (this.#id !== null) return this.#id;
    this.#creation ??= this.#createContainer().finally(() => {
      this.#creation = null;
    });
    return await raceAbort(this.#creation, signal);
  }

  /**
   * Runs an operation with the container. If the container no longer exists, runs it once more with a
   * new one. Throws `ContainerExpiredError` if that fails too.
   */
  async use<Result>(
    operation: (id: string) => Promise<Result>,
    { signal = createNeverAbortedSignal() }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Result> {
    const before = this.#replacements;
    const first = await this.ensure({ signal });
    const isReplacement = this.#replacements > before;
    try {
      return await operation(first);
    } catch (error) {
      signal.throwIfAborted();
      if (!isContainerGone(error)) throw error;
      this.lose(first, error);
      if (isReplacement) throw createExpiredError(first, error);
      return await this.#retryInReplacement(first, { operation, signal });
    }
  }

  /** Transfers files to or from the container, after all earlier transfers. */
  async transfer<Result>(
    work: (step: TransferStep) => Promise<Result>,
    signal: AbortSignal = createNeverAbortedSignal(),
  ): Promise<Result> {
    const run = (id: string) =>
      this.transferIfPresent((now) => work({ containerId: now ?? id, signal }));
    return await this.use(run, { signal });
  }

  /** Transfers files without creating a container: `work` gets `null` if there is none. */
  async transferIfPresent<Result>(
    work: (containerId: string | null) => Promise<Result>,
  ): Promise<Result> {
    return await this.#transferLock.runExclusive(() => work(this.#id));
  }

  /** Adopts a container that the provider created. */
  adopt(id: string): void {
    if (this.#state !== "released") this.#becomeReady(id);
  }

  /**
   * Marks a container that an earlier process used as lost. If there is no other yet, the next one replaces it, and
   * the model is notified.
   */
  loseEarlier(id: string, reason: string): void {
    this.#gone.add(id);
    if (this.#state !== "absent") return;
    this.#lost = { containerId: id, reason, hasServed: true };
    this.#state = "lost";
  }

  /** Whether a container still exists at the provider. */
  async isAlive(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const status = await this.#options.connection.send(
        (calls) => calls.getStatus(id, { signal }),
        signal,
      );
      return status !== "expired" && status !== "deleted";
    } catch (error) {
      if (isContainerGone(error)) return false;
      throw error;
    }
  }

  /** Marks the container as lost, so that the next use creates another. Ignores other ids. */
  lose(id: string, error: unknown): void {
    if (this.#id !== id) return;
    this.#gone.add(id);
    this.#lost ??= { containerId: id, reason: getErrorMessage(error), hasServed: true };
    this.#id = null;
    this.#state = "lost";
  }

  /** Marks the container as lost and creates another right away. */
  async replace(id: string, error: unknown, signal: AbortSignal): Promise<void> {
    this.lose(id, error);
    try {
      await this.ensure({ signal });
    } catch (secondError) {
      signal.throwIfAborted();
      throw toReplacementError(id, secondError);
    }
  }

  /**
   * Releases the container. It expires at the provider, or is deleted now with `remove`. Throws the
   * first error if a container could not be deleted. The next call with `remove` deletes it.
   */
  async release({ remove = false }: { readonly remove?: boolean } = {}): Promise<void> {
    if (this.#state !== "released") {
      this.#state = "released";
      this.#released.abort(createReleasedError());
      await this.#creation?.catch(() => {}); // an aborted creation deletes its own container
      const own = this.#id === null ? [] : [this.#id];
      this.#id = null;
      this.#undeleted = remove ? [...own, ...this.#gone] : []; // a lost one may still retain data
    }
    if (remove) await this.#deleteReleased();
  }

  async #deleteReleased(): Promise<void> {
    const errors: unknown[] = [];
    const undeleted: string[] = [];
    for (const id of this.#undeleted) {
      try {
        await this.#options.connection.send(
          (calls) => calls.remove(id),
          createNeverAbortedSignal(),
        );
        this.#options.onDeleted?.(id);
      } catch (error) {
        errors.push(error);
        undeleted.push(id);
      }
    }
    this.#undeleted = undeleted;
    if (errors.length > 0) throw errors[0];
  }

  async #retryInReplacement<Result>(
    first: string,
    { operation, signal }: { operation(id: string): Promise<Result>; readonly signal: AbortSignal },
  ): Promise<Result> {
    let second: string | null = null;
    try {
      second = await this.ensure({ signal });
      return await operation(second);
    } catch (secondError) {
      signal.throwIfAborted();
      if (second !== null && !isContainerGone(secondError)) throw secondError; // the operation failed
      if (second !== null) this.lose(second, secondError);
      throw toReplacementError(first, secondError);
    }
  }

  /** Creates the container. If it is lost while it is filled, replaces it once, unless it is a replacement. */
  async #createContainer(): Promise<string> {
    if (this.#lost === null) {
      try {
        return await this.#createAndFill();
      } catch (error) {
        if (!isContainerGone(error)) throw error;
      }
    }
    this.#replacements += 1;
    try {
      return await this.#createAndFill();
    } catch (error) {
      throw this.#lost && isContainerGone(error)
        ? createExpiredError(this.#lost.containerId, error)
        : error;
    }
  }

  async #createAndFill(): Promise<string> {
    const { connection, settings, name, contents } = this.#options;
    const { signal } = this.#released;
    this.#state = "creating";
    let id: string | null = null;
    try {
      await contents?.ready();
      const body = { name, ...settings.request };
      const created = await connection.send((calls) => calls.create(body, { signal }), signal);
      id = created.id;
      await this.#options.onCreated?.(id);
      const step = {
        containerId: id,
        signal,
        report: (state: FillState) => this.#setFillState(state),
      };
      if (contents) await this.transferIfPresent(() => contents.fill(step));
      signal.throwIfAborted();
    } catch (error) {
      if (id !== null && isContainerGone(error)) {
        this.#lost ??= { containerId: id, reason: getErrorMessage(error), hasServed: false };
      }
      if (!signal.aborted) this.#state = this.#lost === null ? "absent" : "lost";
      if (id !== null) await this.#remove(id);
      throw error;
    }
    this.#becomeReady(id);
    return id;
  }

  #setFillState(state: FillState): void {
    if (this.#state !== "released") this.#state = state;
  }

  #becomeReady(id: string): void {
    const lost = this.#lost;
    this.#id = id;
    this.#state = "ready";
    this.#lost = null;
    if (lost) this.#publishReplacement(lost, id);
  }

  /** Publishes a replacement. The model is notified only about a container that was ready. */
  #publishReplacement({ containerId, reason, hasServed }: LostContainer, replacedBy: string): void {
    const { contents = NO_CONTENTS, connection } = this.#options;
    const { fileCount: restored, hasLostWork, lostEntries, hasUnlistedChanges } = contents;
    const lost = hasServed ? ["the memory of running code"] : [];
    if (hasLostWork) lost.push("changes that code made to files since the last download");
    if (hasUnlistedChanges) lost.push(UNLISTED_CHANGES);
    lost.push(...lostEntries.slice(0, MAX_LISTED_ENTRIES));
    const others = lostEntries.length - MAX_LISTED_ENTRIES;
    if (others > 0) lost.push(`${others} other files`);
    const before = this.#pendingReplacement; // the model may have missed it
    if (hasServed) {
      this.#pendingReplacement = {
        isStale: hasLostWork || (before?.isStale ?? false),
        isFlat: contents.writesThrough,
        lostEntries: [...(before?.lostEntries ?? []), ...lostEntries],
        hasUnlistedChanges: hasUnlistedChanges || (before?.hasUnlistedChanges ?? false),
      };
    }
    const event = { containerId, replacedBy, reason, restored, lost };
    connection.publish({ type: "ContainerReplaced", ...event });
  }

  /** Deletes a container that could not be filled. A failure is only logged, because it expires. */
  async #remove(id: string): Promise<void> {
    const { calls, logger } = this.#options.connection;
    try {
      await calls.remove(id);
      this.#options.onDeleted?.(id);
    } catch (error) {
      logger.warn("could not delete a container", { id, error: getErrorMessage(error) });
    }
  }
}

/** The most entries that one event lists. */
const MAX_LISTED_ENTRIES = 1_000;

const UNLISTED_CHANGES =
  "file modes, empty folders and symlinks that code made, which the provider does not list";

/** A container that stays empty. */
const NO_CONTENTS = {
  fileCount: 0,
  hasLostWork: false,
  lostEntries: [],
  hasUnlistedChanges: false,
  writesThrough: false,
} as const;

function createNeverAbortedSignal(): AbortSignal {
  return new AbortController().signal;
}

function createReleasedError(): WinkError {
  return new WinkError("The container was released. Create a new workspace.");
}

/** Returns the error for a container whose replacement failed. A throttled replacement may be retried. */
function toReplacementError(id: string, error: unknown): WinkError {
  const isExplained = error instanceof ContainerExpiredError || error instanceof ThrottleError;
  return isExplained ? error : createExpiredError(id, error);
}

function createExpiredError(id: string, cause: unknown): ContainerExpiredError {
  const remedy = "try again: its replacement failed too, and everything written is kept";
  return new ContainerExpiredError(id, cause, remedy);
}
