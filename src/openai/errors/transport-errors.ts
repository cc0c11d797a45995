/** Nothing was heard for too long; its `code` says in which part, as undici does. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  readonly code: "UND_ERR_HEADERS_TIMEOUT" | "UND_ERR_BODY_TIMEOUT";

  constructor(code: TimedOut["code"]) {
    super("nothing was heard for too long");
    this.code = code;
  }
}

/** A body was longer than it may be. */
export class TooLong extends Error {
  override readonly name = "TooLong";
}
