import type { IncomingMessage, ServerResponse } from "node:http";

/** How much of a body is read after the response was sent, and for how long. */
const MAX_BYTES = 64 * 2 ** 20;
const MAX_MS = 500;

/**
 * Discards the part of a request's body that no route has read, once the response has been sent: otherwise the connection
 * could not be used again. Closes the connection if the client sends too much, or too slowly.
 */
export function discardRest(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.readableEnded) return;
  outgoing.once("finish", () => {
    if (incoming.readableEnded || incoming.destroyed) return;
    incoming.removeAllListeners("data"); // a reader that has stopped would keep the rest in memory
    incoming.resume();
    if (incoming.complete) return;
    const close = () => incoming.socket.destroySoon();
    const timer = setTimeout(close, MAX_MS);
    timer.unref();
    let length = 0;
    incoming.on("data", (part: Buffer) => {
      length += part.length;
      if (length > MAX_BYTES) close();
    });
    incoming.once("close", () => clearTimeout(timer));
  });
}
