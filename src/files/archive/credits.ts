/** How many chunks a thread may still send; shared with it. */
export type Credits = Int32Array<SharedArrayBuffer>;

export function newCredits(count: number): Credits {
  return new Int32Array(new SharedArrayBuffer(4)).fill(count);
}

export function giveCredit(credits: Credits): void {
  Atomics.add(credits, 0, 1);
  Atomics.notify(credits, 0);
}

/** Holds the thread up until there is one: not for the main thread. */
export function takeCredit(credits: Credits): void {
  while (Atomics.load(credits, 0) === 0) Atomics.wait(credits, 0, 0);
  Atomics.sub(credits, 0, 1);
}
