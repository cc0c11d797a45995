import { orAborted } from "../../base/abort.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { messageOf, WinkError } from "../../base/errors.ts";
import { checkOptions } from "../../base/names.ts";
import { checkText } from "../../tools/config-checks.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import type { OpenAIClient } from "../http/client.ts";
import { ContainerCalls, isContainerGone } from "../http/container-calls.ts";
import { defaultPatience, type Patience, patiently } from "../http/patience.ts";
import {
  type ContainerConfig,
  type ContainerSettings,
  containerSettings,
  newContainer,
} from "./container-config.ts";
import type { FillState } from "./placement.ts";

/** What a container manager is doing, or what has become of its container. */
export type ContainerState =
  | "absent"
  | "creating"
  | "uploading"
  | "unpacking"
  | "ready"
  | "lost"
  | "released";

/** What a `ContainerManager` is made from. */
export interface ContainerManagerOptions {
  readonly client: OpenAIClient;
  readonly config?: ContainerConfig | undefined;
  /** What the provider calls the container. @default "weakincentives" */
  readonly name?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** What a workspace adds to that. */
export interface ContainerCare {
  readonly settings: ContainerSettings;
  readonly name: string;
  /** Asked for when it is needed: the client may come later. */
  readonly calls: () => ContainerCalls;
  readonly patience: () => Patience;
  /** Brings a new container to what it is to hold, and says how far it is. */
  fill(id: string, step: (state: FillState) => void, signal: AbortSignal): Promise<void>;
  /** A container was gone, and this one has taken its place. */
  replaced(replacement: Replacement): void;
}

/** One container in the place of another. */
export interface Replacement {
  readonly containerId: string;
  readonly replacedBy: string;
  readonly reason: string;
  /** Whether anything was done in it: it may have died while it was filled. */
  readonly hasServed: boolean;
}

/**
 * One container, made when it is first needed, and made again, at most once an operation, when it
 * is gone: whatever the provider says of that.
 */
export class ContainerManager {
  readonly #care: ContainerCare;
  readonly #ended = new AbortController();
  #state: ContainerState = "absent";
  #id: string | null = null;
  #opening: Promise<string> | null = null;
  #lost: Omit<Replacement, "replacedBy"> | null = null;
  /** All that were lost: what ran in one of them is past. */
  readonly #gone = new Set<string>();
  #replacements = 0;

  constructor(options: ContainerManagerOptions | ContainerCare) {
    this.#care = "calls" in options ? options : careOf(options);
  }

  /** `null` while there is none. */
  get containerId(): string | null {
    return this.#id;
  }

  get state(): ContainerState {
    return this.#state;
  }

  /** The containers that it had and that are gone. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** The container's id. Makes it if there is none, together with whoever else is waiting for it. */
  async ensure({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    if (this.#state === "released") throw released();
    if (this.#id !== null) return this.#id;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return await orAborted(this.#opening, signal);
  }

  /**
   * Does something in the container, and once more in a new one if it turns out to be gone.
   * Throws `ContainerExpiredError` when that does not help either.
   */
  async use<Result>(
    operation: (id: string) => Promise<Result>,
    { signal = never() }: { readonly signal?: AbortSignal | undefined } = {},
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
      return await this.#again(first, { operation, signal });
    }
  }

  /** Says that a container is gone, if it is this one's; the next use makes another. */
  lose(id: string, error: unknown): void {
    if (this.#id !== id) return;
    this.#gone.add(id);
    this.#lost ??= { containerId: id, reason: messageOf(error), hasServed: true };
    this.#id = null;
    this.#state = "lost";
  }

  /** Takes a container that the provider made as its own. */
  adopt(id: string): void {
    if (this.#state === "released") return;
    this.#become(id);
  }

  /** Lets go of the container, which the provider removes when its time is over; or at once. */
  async release({ remove = false }: { readonly remove?: boolean } = {}): Promise<void> {
    if (this.#state === "released") return;
    this.#state = "released";
    this.#ended.abort(released());
    await this.#opening?.catch(() => {}); // it removes what it has begun
    const id = this.#id;
    this.#id = null;
    if (!remove) return;
    if (id !== null) await this.#remove(id);
    for (const gone of this.#gone) await this.#remove(gone); // it may only have been useless
  }

  async #again<Result>(
    first: string,
    { operation, signal }: { operation(id: string): Promise<Result>; readonly signal: AbortSignal },
  ): Promise<Result> {
    let second: string | null = null;
    try {
      second = await this.ensure({ signal });
      return await operation(second);
    } catch (again) {
      signal.throwIfAborted();
      if (second !== null && !isContainerGone(again)) throw again; // it is about the operation
      if (second !== null) this.lose(second, again);
      throw again instanceof ContainerExpiredError ? again : expired(first, again);
    }
  }

  /** A container that dies while it is filled is replaced once, if it is not a replacement itself. */
  async #open(): Promise<string> {
    if (this.#lost === null) {
      try {
        return await this.#make();
      } catch (error) {
        if (!isContainerGone(error)) throw error;
      }
    }
    this.#replacements += 1;
    try {
      return await this.#make();
    } catch (error) {
      throw this.#lost && isContainerGone(error) ? expired(this.#lost.containerId, error) : error;
    }
  }

  async #make(): Promise<string> {
    const { settings, name, patience, fill } = this.#care;
    const { signal } = this.#ended;
    const calls = this.#care.calls();
    this.#state = "creating";
    let id: string | null = null;
    try {
      const made = await patiently(
        () => calls.create(newContainer(name, settings), { signal }),
        patience(),
        signal,
      );
      id = made.id;
      await fill(id, (state) => this.#step(state), signal);
      signal.throwIfAborted();
    } catch (error) {
      if (id !== null && isContainerGone(error)) {
        this.#lost ??= { containerId: id, reason: messageOf(error), hasServed: false };
      }
      if (!signal.aborted) this.#state = this.#lost === null ? "absent" : "lost";
      if (id !== null) await this.#remove(id);
      throw error;
    }
    this.#become(id);
    return id;
  }

  #become(id: string): void {
    const lost = this.#lost;
    this.#id = id;
    this.#state = "ready";
    this.#lost = null;
    if (lost) this.#care.replaced({ ...lost, replacedBy: id });
  }

  #step(state: FillState): void {
    if (this.#state !== "released") this.#state = state;
  }

  /** What cannot be removed goes by itself. */
  async #remove(id: string): Promise<void> {
    const { patience } = this.#care;
    const calls = this.#care.calls();
    try {
      await calls.remove(id);
    } catch (error) {
      patience().logger.warn("a container could not be removed", { id, error: messageOf(error) });
    }
  }
}

function careOf(options: ContainerManagerOptions): ContainerCare {
  const {
    client,
    config,
    name = "weakincentives",
    clock = systemClock,
  } = checkOptions(options, "ContainerManager");
  checkText(name, "ContainerManager.name");
  const calls = new ContainerCalls(client);
  const patience = defaultPatience(clock);
  return {
    settings: containerSettings(config, "ContainerManager.config"),
    name,
    calls: () => calls,
    patience: () => patience,
    fill: async () => {},
    replaced: () => {},
  };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

function released(): WinkError {
  return new WinkError("The container was released: make a new workspace");
}

function expired(id: string, again: unknown): ContainerExpiredError {
  const remedy = "the one in its place failed as well; what was written is kept, try again";
  return new ContainerExpiredError(id, again, remedy);
}
