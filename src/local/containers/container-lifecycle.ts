import { mkdirSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ContainerStore, StoredContainer } from "../store/container-store.ts";
import { toStorageProblem } from "../store/storage-problem.ts";
import type { ContainerDisks } from "./disks/container-disks.ts";
import { removeUntrustedFolder } from "./remove-untrusted-folder.ts";

/** Options of {@link ContainerLifecycle}. */
export interface ContainerLifecycleOptions {
  readonly store: ContainerStore;
  readonly dataDir: string;
  readonly clock: Clock;
  /** Called at once when a container expires or is deleted. Its folder is removed after the promise settles. */
  readonly onEnd: (containerId: string) => Promise<void>;
  /** Disks of limited size; `null` stores all files in plain folders. */
  readonly disks: ContainerDisks | null;
}

const MINUTE_MS = 60_000;

const MAX_SLEEP_MS = 60 * MINUTE_MS;

/** Decides by the clock which containers are alive. Use extends a container's life; an expired container never returns. */
export class ContainerLifecycle implements AsyncDisposable {
  readonly #store: ContainerStore;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onEnd: (containerId: string) => Promise<void>;
  readonly #disks: ContainerDisks | null;
  /** Number of current users per container. A container in use does not expire. */
  readonly #users = new Map<string, number>();
  readonly #pendingEnds = new Set<Promise<void>>();
  readonly #disposal = new AbortController();
  readonly #watching: Promise<void>;
  #sleep = new AbortController();

  constructor({ store, dataDir, clock, onEnd, disks }: ContainerLifecycleOptions) {
    this.#store = store;
    this.#folder = join(dataDir, "containers");
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#disks = disks;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#removeStaleFolders();
    this.#watching = this.#watch();
  }

  /** Returns the host folder that the container's code sees as `/mnt/data`. */
  getRoot(id: string): string {
    return this.#disks?.getRoot(id) ?? join(this.#folder, id, "data");
  }

  /** Creates and fills a new container's folder, then stores the container. Removes the folder again on failure. */
  async add(container: StoredContainer, fill: (root: string) => Promise<void>): Promise<void> {
    const { id } = container;
    try {
      const hasDisk = await this.#disks?.add(id);
      const root = this.getRoot(id);
      if (!hasDisk) await mkdir(root, { recursive: true });
      await fill(root);
      this.#store.add(container);
    } catch (error) {
      await this.#end(id, () => undefined);
      throw toStorageProblem(error, this.#folder);
    }
    this.#sleep.abort(); // the new container may be the next to expire
  }

  /** Returns the container's current state. Throws 404 if it does not exist. */
  find(id: string): StoredContainer {
    const container = this.#store.get(id);
    if (!container) throw new ApiProblem(404, `Container with id '${id}' not found.`);
    return this.refresh(container);
  }

  /** Returns the container, marked as expired if it was idle too long. */
  refresh(container: StoredContainer): StoredContainer {
    if (container.expired || this.#getExpiryTime(container) > this.#clock.now()) return container;
    void this.#end(container.id, () => this.#store.expire(container.id));
    return { ...container, expired: true };
  }

  /** Returns a live container. Throws if it does not exist or has expired. */
  requireLive(id: string): StoredContainer {
    const container = this.find(id);
    if (container.expired) throw new ApiProblem(400, "Container is expired.");
    return container;
  }

  /** Runs `work` with a live container, which counts as active until `work` ends. */
  async use<Result>(
    id: string,
    work: (container: StoredContainer) => Promise<Result> | Result,
  ): Promise<Result> {
    const container = this.requireLive(id);
    this.touch(id);
    this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    try {
      if (this.#disks?.isReady(id) === false) await this.#disks.mount(id);
      const result = await work(container);
      this.requireLive(id);
      return result;
    } catch (error) {
      this.requireLive(id); // if the container ended, report that as the cause
      throw error;
    } finally {
      this.#release(id);
    }
  }

  /** Records use of the container now. */
  touch(id: string): void {
    this.#store.touch(id, this.#clock.now());
  }

  /** Expires the container now. */
  async expire(id: string): Promise<void> {
    if (this.find(id).expired) return;
    await this.#end(id, () => this.#store.expire(id));
  }

  /** Deletes the container. Later requests for it get 404. */
  async delete(id: string): Promise<void> {
    this.find(id);
    await this.#end(id, () => this.#store.delete(id));
  }

  /** Stops watching the clock and waits until pending folders are removed and all disks are unmounted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#watching;
    await Promise.all(this.#pendingEnds);
    await this.#disks?.[Symbol.asyncDispose]();
  }

  #release(id: string): void {
    const users = (this.#users.get(id) ?? 0) - 1;
    if (users > 0) this.#users.set(id, users);
    else this.#users.delete(id);
    this.touch(id);
  }

  #getExpiryTime({ id, lastActiveAt, minutes }: StoredContainer): number {
    const since = this.#users.has(id) ? this.#clock.now() : lastActiveAt;
    return since + minutes * MINUTE_MS;
  }

  #end(id: string, mark: () => void): Promise<void> {
    mark();
    const ending = this.#onEnd(id)
      .then(() => this.#disks?.release(id))
      .then(() => removeUntrustedFolder(join(this.#folder, id)))
      .catch(() => undefined) // the container is already unreachable, and the next start retries
      .finally(() => this.#pendingEnds.delete(ending));
    this.#pendingEnds.add(ending);
    return ending;
  }

  /** Expires idle containers on time, even when no request uses them. */
  async #watch(): Promise<void> {
    while (!this.#disposal.signal.aborted) {
      const now = this.#clock.now();
      let next = now + MAX_SLEEP_MS;
      for (const container of this.#store.listLive()) {
        if (!this.refresh(container).expired) next = Math.min(next, this.#getExpiryTime(container));
      }
      this.#sleep = new AbortController();
      const signal = AbortSignal.any([this.#sleep.signal, this.#disposal.signal]);
      await this.#clock.sleep(next - now, signal, { background: true }).catch(() => undefined); // woken
    }
  }

  /** Removes folders without a live container, left behind by a process that was killed. */
  #removeStaleFolders(): void {
    for (const id of readdirSync(this.#folder)) {
      const container = this.#store.get(id);
      if (!container || container.expired) void this.#end(id, () => undefined);
    }
  }
}
