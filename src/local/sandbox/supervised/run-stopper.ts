import type { Clock } from "../../../base/clock.ts";
import type { RunLimits } from "../sandbox.ts";
import type { Deadline } from "./deadline.ts";
import type { SupervisedChild } from "./supervised-child.ts";

/** How a run is stopped after its timeout. */
export interface StopSettings {
  readonly clock: Clock;
  /** Used only by this run until the run ends. */
  readonly deadline: Deadline;
  /** Milliseconds during which the run is only interrupted before it is killed; 0 kills at once. */
  readonly graceMs: number;
}

/** Stops one run on timeout or abort, unless it ends first. */
export class RunStopper {
  readonly #child: SupervisedChild;
  readonly #channel: number;
  readonly #settings: StopSettings;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#startStopping();
  #pause: AbortController | null = null;
  #stopPromise: Promise<void> | null = null;
  #isOver = false;
  #timedOut = false;

  constructor(
    child: SupervisedChild,
    channel: number,
    { timeoutMs, signal }: RunLimits,
    stopping: StopSettings,
  ) {
    this.#child = child;
    this.#channel = channel;
    this.#settings = stopping;
    this.#signal = signal;
    stopping.deadline.set(timeoutMs, () => {
      this.#timedOut = this.#stopPromise === null;
      this.#startStopping();
    });
    if (signal?.aborted) this.#startStopping();
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Call when the run has ended. Returns whether the run timed out. */
  async finish(): Promise<boolean> {
    this.#isOver = true;
    this.#settings.deadline.cancel();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#pause?.abort();
    if (this.#stopPromise !== null) await this.#stopPromise;
    return this.#timedOut;
  }

  #startStopping(): void {
    this.#stopPromise ??= this.#stop();
  }

  /** Interrupts repeatedly, because the code or the command it waits for may swallow an interrupt. */
  async #stop(): Promise<void> {
    const { graceMs } = this.#settings;
    for (let waited = 0; waited < graceMs && !this.#isOver; waited += INTERRUPT_EVERY_MS) {
      this.#child.send({ op: "interrupt" });
      await this.#sleep(Math.min(INTERRUPT_EVERY_MS, graceMs - waited));
    }
    if (this.#isOver) return;
    this.#child.send({ op: "kill", channel: this.#channel });
    await this.#sleep(KILL_TIMEOUT_MS);
    // The supervisor does not respond, so everything must end.
    if (!this.#isOver) await this.#child.kill();
  }

  async #sleep(milliseconds: number): Promise<void> {
    const pausing = new AbortController();
    this.#pause = pausing;
    const pause = this.#settings.clock.sleep(milliseconds, pausing.signal, { background: true });
    await pause.catch(() => undefined); // the run has ended
  }
}

const INTERRUPT_EVERY_MS = 200;
const KILL_TIMEOUT_MS = 2_000;
