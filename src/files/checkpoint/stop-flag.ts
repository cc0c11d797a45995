/** A flag in shared memory that makes a thread stop at a safe point. */
export class StopFlag {
  /** The shared memory, to pass to the thread. */
  readonly shared: SharedArrayBuffer;
  readonly #flag: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#flag = new Int32Array(shared);
  }

  /** Requests the stop. */
  set(): void {
    Atomics.store(this.#flag, 0, 1);
  }

  /** Throws {@link StoppedError} if a stop was requested. */
  check(): void {
    if (Atomics.load(this.#flag, 0) !== 0) throw new StoppedError("A stop was requested");
  }
}

/** Thrown in a thread that was stopped. Callers see the signal's reason instead. */
export class StoppedError extends Error {}
