import { orAborted } from "../../base/clock.ts";
import { messageOf, WinkError } from "../../base/errors.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { ContainerSettings } from "./container-config.ts";
import type { FillState, FillStep } from "./placement.ts";
import type { TransferStep, WorkspaceConnection } from "./workspace-connection.ts";

/**
 * The state of a container: `absent` until it is first needed; then `creating`, `uploading` and
 * `unpacking` while it is made and filled; `ready` while it is in use; `lost` when it has died and
 * the next use makes another; `released` for good.
 */
export type ContainerState =
  | "absent"
  | "creating"
  | "uploading"
  | "unpacking"
  | "ready"
  | "lost"
  | "released";

/** What every new container is filled with, and what is known of that when one has died. */
export interface ContainerContents {
  fill(step: FillStep): Promise<void>;
  readonly fileCount: number;
  /** Whether code had changed files that were not downloaded before the last filling. */
  readonly hasLostWork: boolean;
  /** Whether the files are in the container one by one, under flat names. */
  readonly writesThrough: boolean;
}

/** What a container is made with. */
export interface LifecycleOptions {
  readonly connection: WorkspaceConnection;
  readonly settings: ContainerSettings;
  /** The container's name at the provider. */
  readonly name: string;
  /** @default nothing: the container stays empty */
  readonly contents?: ContainerContents | undefined;
}

/** What has happened to the files of a container that was replaced. */
export interface ReplacedFiles {
  /** Whether code had changed files that were not downloaded. */
  readonly isStale: boolean;
  /** Whether they are under flat names. */
  readonly isFlat: boolean;
}

interface LostContainer {
  readonly containerId: string;
  readonly reason: string;
  /** Whether anything ran in it: it may have died while it was filled. */
  readonly hasServed: boolean;
}

/**
 * One container at the provider, from its making to its release. It is made when it is first
 * needed. When it has died, whatever the provider's words for that, it is made again, at most once
 * per operation, and filled with the same files.
 */
export class ContainerLifecycle {
  readonly #options: LifecycleOptions;
  readonly #released = new AbortController();
  /** One transfer at a time: what is known of the container's files must not change meanwhile. */
  readonly #lane = new SharedLock();
  #state: ContainerState = "absent";
  #id: string | null = null;
  #opening: Promise<string> | null = null;
  #lost: LostContainer | null = null;
  readonly #gone = new Set<string>();
  #replacements = 0;
  #untold: ReplacedFiles | null = null;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** `null` while there is no container. */
  get containerId(): string | null {
    return this.#id;
  }

  get state(): ContainerState {
    return this.#state;
  }

  /** The ids of the containers that have died. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** What the model must be told about containers that were replaced. */
  get untoldReplacement(): ReplacedFiles | null {
    return this.#untold;
  }

  /** The model has been told. */
  forgetReplacement(): void {
    this.#untold = null;
  }

  /** Makes the container if there is none, once for all who wait for it. Returns its id. */
  async ensure({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    if (this.#state === "released") throw releasedError();
    if (this.#id !== null) return this.#id;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return await orAborted(this.#opening, signal);
  }

  /**
   * Does something in the container, and once more in a new one if it turns out to be dead.
   * Throws `ContainerExpiredError` when that does not help either.
   */
  async use<Result>(
    operation: (id: string) => Promise<Result>,
    { signal = neverAborted() }: { readonly signal?: AbortSignal | undefined } = {},
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
      if (isReplacement) throw expired(first, error);
      return await this.#useAgain(first, { operation, signal });
    }
  }

  /** Transfers files to or from the container, when the transfers before this one are done. */
  async transfer<Result>(
    work: (step: TransferStep) => Promise<Result>,
    signal: AbortSignal = neverAborted(),
  ): Promise<Result> {
    const run = (id: string) =>
      this.transferIfThere((now) => work({ containerId: now ?? id, signal }));
    return await this.use(run, { signal });
  }

  /** The same without making a container: `work` gets `null` if there is none. */
  async transferIfThere<Result>(
    work: (containerId: string | null) => Promise<Result>,
  ): Promise<Result> {
    return await this.#lane.alone(() => work(this.#id));
  }

  /** Takes over a container that the provider made. */
  adopt(id: string): void {
    if (this.#state !== "released") this.#becomeReady(id);
  }

  /** Whether the provider still has a container. */
  async isAlive(id: string, signal: AbortSignal): Promise<boolean> {
    try {
      const status = await this.#options.connection.calls.status(id, { signal });
      return status !== "expired" && status !== "deleted";
    } catch (error) {
      if (isContainerGone(error)) return false;
      throw error;
    }
  }

  /** The container has died; the next use makes another. Other ids are ignored. */
  lose(id: string, error: unknown): void {
    if (this.#id !== id) return;
    this.#gone.add(id);
    this.#lost ??= { containerId: id, reason: messageOf(error), hasServed: true };
    this.#id = null;
    this.#state = "lost";
  }

  /** The container has died, and another is made now. */
  async replace(id: string, error: unknown, signal: AbortSignal): Promise<void> {
    this.lose(id, error);
    try {
      await this.ensure({ signal });
    } catch (again) {
      signal.throwIfAborted();
      throw again instanceof ContainerExpiredError ? again : expired(id, again);
    }
  }

  /** Gives the container up. The provider removes it when it expires, or now with `remove`. */
  async release({ remove = false }: { readonly remove?: boolean } = {}): Promise<void> {
    if (this.#state === "released") return;
    this.#state = "released";
    this.#released.abort(releasedError());
    await this.#opening?.catch(() => {}); // it removes what it has made
    const id = this.#id;
    this.#id = null;
    if (!remove) return;
    if (id !== null) await this.#remove(id);
    for (const gone of this.#gone) await this.#remove(gone); // it may still hold data
  }

  async #useAgain<Result>(
    first: string,
    { operation, signal }: { operation(id: string): Promise<Result>; readonly signal: AbortSignal },
  ): Promise<Result> {
    let second: string | null = null;
    try {
      second = await this.ensure({ signal });
      return await operation(second);
    } catch (again) {
      signal.throwIfAborted();
      if (second !== null && !isContainerGone(again)) throw again; // the operation's own failure
      if (second !== null) this.lose(second, again);
      throw again instanceof ContainerExpiredError ? again : expired(first, again);
    }
  }

  /** A container that dies while it is filled is replaced once, unless it is a replacement. */
  async #open(): Promise<string> {
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
      throw this.#lost && isContainerGone(error) ? expired(this.#lost.containerId, error) : error;
    }
  }

  async #createAndFill(): Promise<string> {
    const { connection, settings, name, contents } = this.#options;
    const { signal } = this.#released;
    this.#state = "creating";
    let id: string | null = null;
    try {
      const body = { name, ...settings.request };
      const made = await connection.send((calls) => calls.create(body, { signal }), signal);
      id = made.id;
      const step = { containerId: id, signal, report: (state: FillState) => this.#report(state) };
      if (contents) await this.transferIfThere(() => contents.fill(step));
      signal.throwIfAborted();
    } catch (error) {
      if (id !== null && isContainerGone(error)) {
        this.#lost ??= { containerId: id, reason: messageOf(error), hasServed: false };
      }
      if (!signal.aborted) this.#state = this.#lost === null ? "absent" : "lost";
      if (id !== null) await this.#remove(id);
      throw error;
    }
    this.#becomeReady(id);
    return id;
  }

  #report(state: FillState): void {
    if (this.#state !== "released") this.#state = state;
  }

  #becomeReady(id: string): void {
    const lost = this.#lost;
    this.#id = id;
    this.#state = "ready";
    this.#lost = null;
    if (lost) this.#publishReplacement(lost, id);
  }

  /** The model is told only of a container that it has used. */
  #publishReplacement({ containerId, reason, hasServed }: LostContainer, replacedBy: string): void {
    const { contents, connection } = this.#options;
    const { fileCount: restored = 0, hasLostWork = false, writesThrough = false } = contents ?? {};
    const lost = hasServed ? ["what code held in memory"] : [];
    if (hasLostWork) lost.push("what code changed in files since they were last fetched");
    const isStale = hasLostWork || (this.#untold?.isStale ?? false);
    if (hasServed) this.#untold = { isStale, isFlat: writesThrough };
    const event = { containerId, replacedBy, reason, restored, lost };
    connection.publish({ type: "ContainerReplaced", ...event });
  }

  /** A container that cannot be removed expires. */
  async #remove(id: string): Promise<void> {
    const { calls, logger } = this.#options.connection;
    try {
      await calls.remove(id);
    } catch (error) {
      logger.warn("a container could not be removed", { id, error: messageOf(error) });
    }
  }
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

function releasedError(): WinkError {
  return new WinkError("The container was released: make a new workspace");
}

function expired(id: string, again: unknown): ContainerExpiredError {
  const remedy = "the one in its place failed as well; what was written is kept, try again";
  return new ContainerExpiredError(id, again, remedy);
}
