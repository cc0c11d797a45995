/** Returns whether the database could not be reached for now: the same statement may succeed later. */
export function isConnectionLoss(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && CODES.test(String(cause.code))) return true;
    if (/^Connection terminated/.test(cause.message)) return true; // pg's own error, without a code
  }
  return false;
}

/** The SQLSTATEs of lost connections and of a server that stops or starts, and the system's codes. */
const CODES = /^(?:08\w{3}|57P0[123]|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE)$/;
