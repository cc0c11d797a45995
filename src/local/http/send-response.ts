import type { IncomingMessage, ServerResponse } from "node:http";
import { BufferedResponse } from "./buffered-response.ts";
import { discardRest } from "./discard-rest.ts";

/**
 * Sends a response on a socket. A streamed body is sent at the client's pace, and canceled if the client disconnects.
 * If the body fails, the connection ends without the end of the body, so that clients do not mistake it for complete.
 */
export async function sendResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  discardRest(incoming, outgoing);
  if (response instanceof BufferedResponse) {
    outgoing.writeHead(response.status, response.headerFields);
    outgoing.end(response.payload);
    return;
  }
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders(); // before the first event, which may take minutes
  await sendBody(response.body.getReader(), outgoing);
}

async function sendBody(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: ServerResponse,
): Promise<void> {
  const cancelBody = () =>
    void reader.cancel(new Error("The client disconnected.")).catch(() => {});
  outgoing.once("close", cancelBody);
  if (outgoing.destroyed) cancelBody();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) break;
      if (!outgoing.write(value)) await waitForRoom(outgoing);
    }
    outgoing.off("close", cancelBody);
    outgoing.end();
  } catch {
    outgoing.off("close", cancelBody);
    setImmediate(() => outgoing.socket?.destroySoon()); // after the chunks that were written
  }
}

/** Waits until the client has read enough, or has disconnected. */
function waitForRoom(outgoing: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finishWait = () => {
    outgoing.off("drain", finishWait);
    outgoing.off("close", finishWait);
    resolve();
  };
  outgoing.on("drain", finishWait);
  outgoing.on("close", finishWait);
  if (outgoing.destroyed) finishWait();
  return promise;
}
