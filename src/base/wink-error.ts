/** Base class of every error that this package throws deliberately. Any other error is a bug. */
export class WinkError extends Error {
  override readonly name: string = "WinkError";
}
