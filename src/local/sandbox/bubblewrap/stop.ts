import type { Clock } from "../../../base/clock.ts";
import type { RunLimits } from "../sandbox.ts";
import type { BubblewrapChild } from "./child.ts";
import type { Deadline } from "./deadline.ts";

/** How a run is stopped whose time is up. */
export interface Stopping {
  readonly clock: Clock;
  /** For this run alone until it is over. */
  readonly deadline: Deadline;
  /** For how long it is only interrupted before everything is killed; 0 kills at once. */
  readonly graceMs: number;
}

/** Stops one run when its time is up or its signal aborts, unless it is over before. */
export class Stop {
  readonly #child: BubblewrapChild;
  readonly #stopping: Stopping;
  readonly #signal: AbortSignal | undefined;
  readonly #leave = (): void => this.#begin();
  #pause: AbortController | null = null;
  #underWay: Promise<void> | null = null;
  #isOver = false;
  #timedOut = false;

  constructor(child: BubblewrapChild, { timeoutMs, signal }: RunLimits, stopping: Stopping) {
    this.#child = child;
    this.#stopping = stopping;
    this.#signal = signal;
    stopping.deadline.after(timeoutMs, () => {
      this.#timedOut = this.#underWay === null;
      this.#begin();
    });
    if (signal?.aborted) this.#begin();
    signal?.addEventListener("abort", this.#leave, { once: true });
  }

  /** The run is over: whether its time was up before that. */
  async end(): Promise<boolean> {
    this.#isOver = true;
    this.#stopping.deadline.callOff();
    this.#signal?.removeEventListener("abort", this.#leave);
    this.#pause?.abort();
    if (this.#underWay !== null) await this.#underWay;
    return this.#timedOut;
  }

  #begin(): void {
    this.#underWay ??= this.#stop();
  }

  /** Code may swallow an interrupt, or the command it waits for may: it gets more than one. */
  async #stop(): Promise<void> {
    const { clock, graceMs } = this.#stopping;
    const pausing = new AbortController();
    this.#pause = pausing;
    for (let waited = 0; waited < graceMs && !this.#isOver; waited += INTERRUPT_EVERY_MS) {
      this.#child.send({ op: "interrupt" });
      const milliseconds = Math.min(INTERRUPT_EVERY_MS, graceMs - waited);
      const pause = clock.sleep(milliseconds, pausing.signal, { background: true });
      await pause.catch(() => undefined); // the run is over
    }
    if (!this.#isOver) await this.#child.kill();
  }
}

const INTERRUPT_EVERY_MS = 200;
