import { WinkError } from "../../base/errors.ts";

/** Thrown to a reader of a stream whose events are no longer kept. */
export class StreamReadError extends WinkError {
  override readonly name = "StreamReadError";
}
