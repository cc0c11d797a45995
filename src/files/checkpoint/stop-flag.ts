/** Tells a thread to stop and tidy up: what is set here is seen there at once. */
export class StopFlag {
  /** Crosses threads. */
  readonly shared: SharedArrayBuffer;
  readonly #flag: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#flag = new Int32Array(shared);
  }

  set(): void {
    Atomics.store(this.#flag, 0, 1);
  }

  /** Throws if it was set; whoever set it knows why, and does not ask what was thrown. */
  check(): void {
    if (Atomics.load(this.#flag, 0) !== 0) throw new Stopped("It was told to stop");
  }
}

/** Nobody sees this one. */
export class Stopped extends Error {}
