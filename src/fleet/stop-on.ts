import { systemClock } from "../base/clock.ts";
import { InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { quoteNames } from "../base/quote-value.ts";
import { WinkError } from "../base/wink-error.ts";

/** The signals that {@link stopOn} accepts. Each of them ends a process that does not listen for it. */
export type StopSignal = "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGQUIT" | "SIGBREAK" | "SIGUSR2";

/**
 * Returns an `AbortSignal` that aborts when the process receives one of these signals, for `worker.run({ signal })`.
 * Its reason is a `WinkError` that names the signal. The next signal ends the process at once, as if nothing listened:
 * press Ctrl-C twice to kill it. Signals within 100 ms count as one, because npm forwards the Ctrl-C that the terminal
 * has already sent. Does not keep the process alive.
 */
export function stopOn(...signals: readonly StopSignal[]): AbortSignal {
  const names = new Set(signals);
  if (names.size === 0) throw createSignalError(undefined);
  for (const name of names) if (!Object.hasOwn(STOP_SIGNALS, name)) throw createSignalError(name);
  const stop = new AbortController();
  const onSignal = (name: StopSignal) => {
    if (stop.signal.aborted) return;
    stop.abort(new WinkError(`The process received ${name}. Start the program again to continue.`));
    void systemClock.sleep(SAME_SIGNAL_MS, undefined, { background: true }).then(() => {
      for (const each of names) process.off(each, onSignal);
    });
  };
  for (const name of names) process.on(name, onSignal);
  return stop.signal;
}

const STOP_SIGNALS: KnownKeys<Record<StopSignal, true>> = {
  SIGTERM: true,
  SIGINT: true,
  SIGHUP: true,
  SIGQUIT: true,
  SIGBREAK: true,
  SIGUSR2: true,
};

/** A signal after this time is a second one. */
const SAME_SIGNAL_MS = 100;

function createSignalError(value: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "stopOn(signals)",
    value,
    rule: `must be names of signals: ${quoteNames(Object.keys(STOP_SIGNALS))}`,
    remedy: 'use stopOn("SIGTERM", "SIGINT")',
  });
}
