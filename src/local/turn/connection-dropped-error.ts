/** Thrown when the model is scripted to drop the connection. The connection's owner then closes it. */
export class ConnectionDroppedError extends Error {
  override readonly name = "ConnectionDroppedError";
}
