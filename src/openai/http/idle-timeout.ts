import type { Clock } from "../../base/clock.ts";
import { TransportTimeoutError } from "../errors/transport-errors.ts";

/** Aborts a request when the server sends nothing for too long. */
export interface IdleTimeout {
  /** Aborts when no data arrived within the timeout. */
  readonly signal: AbortSignal;
  /** Restarts the timeout. `phase` names the part of the request in the error. */
  restart(phase: TransportTimeoutError["code"]): void;
  /** Pauses the timeout while the client, not the server, is working. */
  pause(): void;
  /** Ends the timeout. */
  stop(): void;
}

/** Starts the timeout, waiting for the response's headers. */
export function startIdleTimeout(timeoutMs: number, clock: Clock): IdleTimeout {
  const timeout = new AbortController();
  const stopped = new AbortController();
  let phase: TransportTimeoutError["code"] = "UND_ERR_HEADERS_TIMEOUT";
  let since: number | null = null;
  let isWatched = false;
  const watch = async () => {
    let left = timeoutMs;
    while (left > 0) {
      await clock.sleep(left, stopped.signal);
      isWatched = since !== null;
      if (since === null) return; // paused: the next restart watches again
      left = since + timeoutMs - clock.now();
    }
    timeout.abort(new TransportTimeoutError(phase));
  };
  const restart = (next: TransportTimeoutError["code"]) => {
    phase = next;
    since = clock.now();
    if (isWatched) return;
    isWatched = true;
    watch().catch(() => {}); // stop() was called
  };
  restart(phase);
  return {
    signal: timeout.signal,
    restart,
    pause() {
      since = null;
    },
    stop: () => stopped.abort(),
  };
}
