/** The time that some work took, and the longest time in which no other code could run. */
export interface Stall {
  readonly elapsedMs: number;
  readonly stallMs: number;
  /** The result, or the message of the error. */
  readonly outcome: unknown;
}

const TICK_MS = 10;

/** Runs work and measures the longest time in which no timer could run. */
export async function measureStall(work: () => unknown): Promise<Stall> {
  const started = performance.now();
  let last = started;
  let stallMs = 0;
  const tick = () => {
    stallMs = Math.max(stallMs, performance.now() - last - TICK_MS);
    last = performance.now();
  };
  const timer = setInterval(tick, TICK_MS);
  let outcome: unknown;
  try {
    outcome = await work();
  } catch (error) {
    outcome = error instanceof Error ? error.message : error;
  } finally {
    clearInterval(timer);
    tick();
  }
  return { elapsedMs: performance.now() - started, stallMs, outcome };
}

/** Lists the attacks that stalled the program for longer than `limitMs`, or that ended in another way than expected. */
export async function findStalls(
  attacks: Readonly<Record<string, () => unknown>>,
  expected: RegExp,
  limitMs = 5_000,
): Promise<{ readonly tried: number; readonly through: readonly string[] }> {
  const through: string[] = [];
  for (const [what, attack] of Object.entries(attacks)) {
    const { stallMs, outcome } = await measureStall(attack);
    if (stallMs > limitMs) through.push(`${what} stalled the program for ${stallMs} ms`);
    const text = typeof outcome === "string" ? outcome : (JSON.stringify(outcome) ?? "");
    if (!expected.test(text)) through.push(`${what} ended with ${text.slice(0, 200)}`);
  }
  return { tried: Object.keys(attacks).length, through };
}
