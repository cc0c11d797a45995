/** Where an adapter tells what it does; `console` fits. */
export interface Logger {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}

/** Says nothing. */
export const silentLogger: Logger = Object.freeze({
  debug() {},
  info() {},
  warn() {},
  error() {},
});
