/** The bytes that a thread has done and those that it has to do, for another thread to read. */
export type ByteCounter = BigInt64Array<SharedArrayBuffer>;

const DONE = 0;
const TOTAL = 1;

/** Creates a counter that starts at 0. Pass it to a thread in its task. */
export function createByteCounter(totalBytes = 0): ByteCounter {
  const counter = new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT));
  setTotalBytes(counter, totalBytes);
  return counter;
}

/** Adds to the bytes that are done, if there is a counter. */
export function addBytes(counter: ByteCounter | undefined, bytes: number): void {
  if (counter) Atomics.add(counter, DONE, BigInt(bytes));
}

/** Sets the bytes in total, if there is a counter. */
export function setTotalBytes(counter: ByteCounter | undefined, bytes: number): void {
  if (counter) Atomics.store(counter, TOTAL, BigInt(bytes));
}

/** Returns the bytes that are done, and those in total. */
export function readByteCounter(counter: ByteCounter): {
  readonly doneBytes: number;
  readonly totalBytes: number;
} {
  const read = (index: number) => Number(Atomics.load(counter, index));
  return { doneBytes: read(DONE), totalBytes: read(TOTAL) };
}
