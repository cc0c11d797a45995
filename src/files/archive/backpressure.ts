/** Counts the chunks a thread may still send. The memory is shared between both threads. */
export type Backpressure = Int32Array<SharedArrayBuffer>;

/** Creates a counter with `count` free slots. */
export function createBackpressure(count: number): Backpressure {
  return new Int32Array(new SharedArrayBuffer(4)).fill(count);
}

/** Frees a slot and resumes a thread that waits in {@link acquireSlot}. */
export function releaseSlot(backpressure: Backpressure): void {
  Atomics.add(backpressure, 0, 1);
  Atomics.notify(backpressure, 0);
}

/** Blocks the thread until a slot is free, then takes it. Never call it on the main thread. */
export function acquireSlot(backpressure: Backpressure): void {
  while (Atomics.load(backpressure, 0) === 0) Atomics.wait(backpressure, 0, 0);
  Atomics.sub(backpressure, 0, 1);
}
