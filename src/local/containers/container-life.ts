import { mkdirSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ContainerStore, StoredContainer } from "../store/container-store.ts";
import { removeFolder } from "./container-removal.ts";

/** What a container's life depends on. */
export interface ContainerLifeOptions {
  readonly store: ContainerStore;
  readonly dataDir: string;
  readonly clock: Clock;
  /** Told at once when one has expired or was deleted; its folder goes after that. */
  readonly onEnd: (containerId: string) => Promise<void>;
}

const MINUTE_MS = 60_000;

const LONGEST_NAP_MS = 60 * MINUTE_MS;

/** When containers live and die, by the clock: whoever uses one keeps it, nobody brings one back. */
export class ContainerLife implements AsyncDisposable {
  readonly #store: ContainerStore;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #onEnd: (containerId: string) => Promise<void>;
  /** How many use each at this moment: it does not expire meanwhile. */
  readonly #users = new Map<string, number>();
  readonly #endings = new Set<Promise<void>>();
  readonly #over = new AbortController();
  readonly #watching: Promise<void>;
  #nap = new AbortController();

  constructor({ store, dataDir, clock, onEnd }: ContainerLifeOptions) {
    this.#store = store;
    this.#folder = join(dataDir, "containers");
    this.#clock = clock;
    this.#onEnd = onEnd;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#removeUnknown();
    this.#watching = this.#watch();
  }

  /** The folder that its code sees as `/mnt/data`. */
  rootOf(id: string): string {
    return join(this.#folder, id, "data");
  }

  /** A new one's folder is made, then filled, and then it is known: all of it or nothing. */
  async add(container: StoredContainer, fill: (root: string) => Promise<void>): Promise<void> {
    const { id } = container;
    const root = this.rootOf(id);
    await mkdir(root, { recursive: true });
    try {
      await fill(root);
      this.#store.add(container);
    } catch (error) {
      await this.#end(id, () => undefined);
      throw error;
    }
    this.#nap.abort(); // it may be the next one to expire
  }

  /** As it is now. Refuses one that is not known. */
  find(id: string): StoredContainer {
    const container = this.#store.get(id);
    if (!container) throw new ApiProblem(404, `Container with id '${id}' not found.`);
    return this.current(container);
  }

  /** The same, expired if its time is over. */
  current(container: StoredContainer): StoredContainer {
    if (container.expired || this.#dueOf(container) > this.#clock.now()) return container;
    void this.#end(container.id, () => this.#store.expire(container.id));
    return { ...container, expired: true };
  }

  /** Refuses one that is not known or has expired. */
  check(id: string): StoredContainer {
    const container = this.find(id);
    if (container.expired) throw new ApiProblem(400, "Container is expired.");
    return container;
  }

  /** Does `work` with a live one, which counts as active from before to after it. */
  async use<Result>(
    id: string,
    work: (container: StoredContainer) => Promise<Result> | Result,
  ): Promise<Result> {
    const container = this.check(id);
    this.touch(id);
    this.#users.set(id, (this.#users.get(id) ?? 0) + 1);
    try {
      const result = await work(container);
      this.check(id);
      return result;
    } catch (error) {
      this.check(id); // that it is gone is why the rest failed
      throw error;
    } finally {
      this.#leave(id);
    }
  }

  /** Counts as use. */
  touch(id: string): void {
    this.#store.touch(id, this.#clock.now());
  }

  /** Ends its time now. */
  async expire(id: string): Promise<void> {
    if (this.find(id).expired) return;
    await this.#end(id, () => this.#store.expire(id));
  }

  /** It is unknown from now on. */
  async delete(id: string): Promise<void> {
    this.find(id);
    await this.#end(id, () => this.#store.delete(id));
  }

  /** Stops watching the clock, and waits for folders that are being removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#watching;
    await Promise.all(this.#endings);
  }

  #leave(id: string): void {
    const users = (this.#users.get(id) ?? 0) - 1;
    if (users > 0) this.#users.set(id, users);
    else this.#users.delete(id);
    this.touch(id);
  }

  #dueOf({ id, lastActiveAt, minutes }: StoredContainer): number {
    const since = this.#users.has(id) ? this.#clock.now() : lastActiveAt;
    return since + minutes * MINUTE_MS;
  }

  #end(id: string, mark: () => void): Promise<void> {
    mark();
    const ending = this.#onEnd(id)
      .then(() => removeFolder(join(this.#folder, id)))
      .catch(() => undefined) // it is unreachable already, and the next start tries again
      .finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }

  /** Ends those whose time is over, also if nobody asks for them. */
  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const now = this.#clock.now();
      let next = now + LONGEST_NAP_MS;
      for (const container of this.#store.live()) {
        if (!this.current(container).expired) next = Math.min(next, this.#dueOf(container));
      }
      this.#nap = new AbortController();
      const signal = AbortSignal.any([this.#nap.signal, this.#over.signal]);
      await this.#clock.sleep(next - now, signal, { background: true }).catch(() => undefined); // woken
    }
  }

  /** A process that was killed may leave folders of containers that nobody can use. */
  #removeUnknown(): void {
    for (const id of readdirSync(this.#folder)) {
      const container = this.#store.get(id);
      if (!container || container.expired) void this.#end(id, () => undefined);
    }
  }
}
