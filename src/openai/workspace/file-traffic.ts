import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { FlatPlacement } from "./flat-placement.ts";
import type { FillState, Placement, PlacementParts, PlacementStep, Unpack } from "./placement.ts";
import { Staleness } from "./staleness.ts";
import { TreePlacement, UnpackingProblem } from "./tree-placement.ts";

/** What the traffic of a workspace goes by. */
export interface TrafficParts extends PlacementParts {
  readonly clock: Clock;
  readonly unpack: Unpack;
  /** The name that all files go up by. */
  readonly archive: string;
  /** The container as it is now: what is asked for may have waited while it was replaced. */
  containerId(): string | null;
  /** The files go up one by one from now on. */
  flattened(containerId: string, reason: string): void;
}

/**
 * All that goes between a workspace's mirror and its container, one thing after the other: what is
 * known of a container is only true if nobody else changes it meanwhile.
 */
export class FileTraffic {
  /** Paths that were changed here and are not yet in the container; folders end in `/`. */
  readonly touched = new Set<string>();
  readonly tree: TreePlacement;
  readonly #parts: TrafficParts;
  readonly #flat: FlatPlacement;
  readonly #stale: Staleness;
  readonly #lane = new SharedLock();
  #placement: Placement;
  #isToFlatten = false;
  #files = 0;
  #hasLostWork = false;
  #failed: readonly SyncFailure[] = [];
  #pulling: Promise<void> | null = null;

  constructor(parts: TrafficParts) {
    const { unpack, archive, clock } = parts;
    this.#parts = parts;
    this.tree = new TreePlacement(parts, { asks: unpack === "prompt", archive });
    this.#flat = new FlatPlacement(parts);
    this.#placement = unpack === "files" ? this.#flat : this.tree;
    this.#stale = new Staleness(clock, { isTold: true });
  }

  /** How many files the container was given when it was new. */
  get files(): number {
    return this.#files;
  }

  /** Whether code had changed files, when the container was filled, that were not fetched before. */
  get hasLostWork(): boolean {
    return this.#hasLostWork;
  }

  /** Whether what is written goes up at once. */
  get writesThrough(): boolean {
    return this.#placement.writesThrough;
  }

  /** Brings everything into a new container. */
  async fill(step: PlacementStep & { report(state: FillState): void }): Promise<void> {
    await this.#lane.alone(async () => {
      await this.#parts.mirror.ready();
      await this.#sending(step, async () => {
        this.#files = await this.#placement.fill(step);
      });
      this.#hasLostWork = this.#stale.isStale;
      this.#stale.refreshed();
    });
  }

  /** Brings up what was changed here. */
  async push(given: PlacementStep): Promise<void> {
    await this.#lane.alone(() => this.#push(this.#now(given)));
  }

  /** The same before a request: says where it finds all files, and what the model must read. */
  async prepare(given: PlacementStep) {
    return await this.#lane.alone(async () => {
      const step = this.#now(given);
      await this.#push(step);
      return { containerId: step.containerId, notes: await this.#placement.notes(step) };
    });
  }

  /** Code has run, and has printed this. */
  codeRan(printed: string): void {
    this.#placement.heard(printed);
    this.#isToFlatten = this.#placement === this.tree && this.tree.isWaiting;
    this.#stale.codeRan();
  }

  /** A request has failed in which code may have run. */
  codeMayHaveRun(): void {
    this.#stale.codeRan();
  }

  /** Brings back what code did, if it may have done anything. */
  async pull(given: PlacementStep): Promise<void> {
    this.#pulling = this.#lane.alone(async () => {
      if (this.#stale.isStale && !this.#isToFlatten) await this.#pull(given);
    });
    await this.#pulling;
  }

  /** The same for the last time: says what could not be had. */
  async lastPull(given: PlacementStep | null): Promise<readonly SyncFailure[]> {
    await this.#pulling?.catch(() => {}); // then there is still something to fetch
    if (!this.#stale.isStale) return this.#failed;
    if (given === null) return [{ path: ".", reason: `${UNFETCHED}: the container is gone` }];
    try {
      await this.#lane.alone(() => this.#pull(given));
      return this.#failed;
    } catch (error) {
      return [...this.#failed, { path: ".", reason: `${UNFETCHED}: ${messageOf(error)}` }];
    }
  }

  async #pull(given: PlacementStep): Promise<void> {
    this.#stale.refreshed(); // code that runs from here on may be missed
    try {
      const { failed, isWhole } = await this.#placement.pull(this.touched, this.#now(given));
      this.#failed = failed;
      if (!isWhole) this.#stale.codeRan();
    } catch (error) {
      this.#stale.codeRan();
      throw error;
    }
  }

  #now(given: PlacementStep): PlacementStep {
    return { ...given, containerId: this.#parts.containerId() ?? given.containerId };
  }

  async #push(step: PlacementStep): Promise<void> {
    if (this.#isToFlatten) await this.#flatten(step, "the model did not unpack them");
    await this.#sending(step, (touched) => this.#placement.push(touched, step));
  }

  /** What is touched again meanwhile stays touched, and so does all if it fails. */
  async #sending(
    step: PlacementStep,
    work: (touched: ReadonlySet<string>) => Promise<void>,
  ): Promise<void> {
    const touched = new Set(this.touched);
    this.touched.clear();
    try {
      await work(touched).catch(async (error) => {
        if (!(error instanceof UnpackingProblem)) throw error;
        await this.#flatten(step, error.message);
      });
    } catch (error) {
      for (const path of touched) this.touched.add(path);
      throw error;
    }
  }

  /** From now on each file goes up by itself, be it that the container dies meanwhile. */
  async #flatten(step: PlacementStep, reason: string): Promise<void> {
    this.#isToFlatten = false;
    this.#placement = this.#flat;
    this.#parts.flattened(step.containerId, reason);
    this.#files = await this.#flat.fill({ ...step, report: () => {} });
  }
}

const UNFETCHED = "what code changed last could not be fetched";
