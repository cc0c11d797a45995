/** Receives the adapter's log messages. `console` is a valid logger. */
export interface Logger {
  /** Logs a detail for debugging. */
  debug(message: string, facts?: object): void;
  /** Logs normal progress. */
  info(message: string, facts?: object): void;
  /** Logs a problem that the adapter handled. */
  warn(message: string, facts?: object): void;
  /** Logs a failure. */
  error(message: string, facts?: object): void;
}

/** Discards all messages. */
export const silentLogger: Logger = Object.freeze({
  debug() {},
  info() {},
  warn() {},
  error() {},
});
