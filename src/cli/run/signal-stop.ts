import { constants } from "node:os";
import type { Stoppable } from "../end-on-signal.ts";

/** A later signal counts as a second one. npm forwards the Ctrl-C that a terminal already sends to all processes. */
const SECOND_SIGNAL_MS = 100;

/** The longest cleanup after a signal: files may have to be fetched from a container. */
const GRACE_MS = 30_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Aborts work at the first signal, so that it can clean up. Exits at the second one, or if the cleanup takes longer than
 * half a minute.
 */
export class SignalStop implements Disposable {
  readonly #host: Stoppable;
  readonly #controller = new AbortController();
  readonly #onSignal = (signal: NodeJS.Signals = "SIGINT") => this.#receive(signal);
  #exitCode: number | null = null;
  #receivedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(host: Stoppable) {
    this.#host = host;
    for (const signal of SIGNALS) host.on(signal, this.#onSignal);
  }

  /** Aborts at the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** 128 plus the number of the first signal; `null` if there was none. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** Resolves at the first signal. */
  async wait(): Promise<void> {
    const { signal } = this.#controller;
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of SIGNALS) this.#host.off(signal, this.#onSignal);
  }

  #receive(signal: NodeJS.Signals): void {
    if (this.#exitCode !== null) {
      if (performance.now() - this.#receivedAt > SECOND_SIGNAL_MS) this.#host.exit(this.#exitCode);
      return;
    }
    // A reader that closes the pipe is not a failure.
    const code = signal === "SIGPIPE" ? 0 : 128 + constants.signals[signal];
    this.#exitCode = code;
    this.#receivedAt = performance.now();
    this.#timer = setTimeout(() => this.#host.exit(code), GRACE_MS).unref();
    this.#controller.abort(new DOMException(`The run was stopped by ${signal}.`, "AbortError"));
  }
}
