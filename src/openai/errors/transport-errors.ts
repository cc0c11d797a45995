/** No data arrived within the timeout. `code` names the phase, in the words of Node's `fetch`. */
export class TransportTimeoutError extends Error {
  override readonly name = "IdleTimeoutExceeded";
  readonly code: "UND_ERR_CONNECT_TIMEOUT" | "UND_ERR_HEADERS_TIMEOUT" | "UND_ERR_BODY_TIMEOUT";

  constructor(code: TransportTimeoutError["code"]) {
    super("no data arrived within the timeout");
    this.code = code;
  }
}

/** The server closed the connection before the end of its response. */
export class TransportClosedError extends Error {
  override readonly name = "ConnectionClosed";
  readonly code = "ECONNRESET";

  constructor() {
    super("other side closed");
  }
}

/** A body exceeded its size limit. */
export class TransportBodyError extends Error {
  override readonly name = "BodyTooLong";
}

/** The caller's `fetch`, or the body of its response, threw. `cause` is what it threw. */
export class TransportFetchError extends Error {
  override readonly name = "FetchFailed";

  constructor(cause: unknown) {
    super("fetch threw", { cause });
  }
}

/** A stream of events ended before its last event. */
export class TransportEndError extends Error {
  override readonly name = "StreamCutOff";
  readonly code = "ERR_STREAM_PREMATURE_CLOSE";

  constructor() {
    super("the stream ended before its last event");
  }
}
