import type { Clock } from "../../base/clock.ts";
import { TimedOut } from "../errors/transport-errors.ts";

/** Watches that the other side is not silent for too long. */
export interface Silence {
  /** Aborts with `TimedOut` when nothing was heard for too long. */
  readonly signal: AbortSignal;
  /** Something is waited for from now on, in this part of the exchange. */
  waits(part: TimedOut["code"]): void;
  /** Nothing is: it is our turn, and that may take as long as it does. */
  rests(): void;
  /** The exchange is over. */
  stop(): void;
}

/** Begins by waiting for an answer's headers. */
export function listen(timeoutMs: number, clock: Clock): Silence {
  const silence = new AbortController();
  const over = new AbortController();
  let part: TimedOut["code"] = "UND_ERR_HEADERS_TIMEOUT";
  let since: number | null = null;
  let isWatched = false;
  const watch = async () => {
    let left = timeoutMs;
    while (left > 0) {
      await clock.sleep(left, over.signal);
      isWatched = since !== null;
      if (since === null) return; // the next wait watches again
      left = since + timeoutMs - clock.now();
    }
    silence.abort(new TimedOut(part));
  };
  const waits = (next: TimedOut["code"]) => {
    part = next;
    since = clock.now();
    if (isWatched) return;
    isWatched = true;
    watch().catch(() => {}); // it was stopped
  };
  waits(part);
  return {
    signal: silence.signal,
    waits,
    rests() {
      since = null;
    },
    stop: () => over.abort(),
  };
}
