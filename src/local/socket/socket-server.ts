import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { ApiProblem } from "../api-problem.ts";
import { createErrorEvent } from "./create-error-event.ts";
import { type ConnectionServices, ResponsesConnection } from "./responses-connection.ts";

/** How long a client may take to close a connection that the server closes. */
const CLOSE_TIMEOUT_MS = 1000;

/** Completes WebSocket handshakes, and owns the connections until they are closed. */
export class SocketServer {
  readonly #services: ConnectionServices;
  readonly #server: WebSocketServer;

  constructor(services: ConnectionServices) {
    this.#services = services;
    const options = {
      noServer: true,
      maxPayload: services.maxBodyBytes,
      autoPong: false, // the connection answers pings, if the client reads the answers
      closeTimeout: CLOSE_TIMEOUT_MS, // missing in the library's types
      WebSocket: createSocketClass(services.maxBodyBytes),
    };
    this.#server = new WebSocketServer(options);
  }

  /** Completes a handshake with these additional headers, or rejects it if it is invalid. */
  accept(
    incoming: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    headers: readonly string[],
  ): void {
    const addHeaders = (list: string[]) => list.push(...headers);
    this.#server.once("headers", addHeaders);
    this.#server.handleUpgrade(incoming, socket, head, (client) => {
      new ResponsesConnection(client, this.#services);
    });
    this.#server.off("headers", addHeaders); // a rejected handshake has not used them
  }

  /** Closes all connections, and waits until they have closed. */
  async close(): Promise<void> {
    const closing = [...this.#server.clients].map(async (client) => {
      const closed = new Promise((resolve) => client.once("close", resolve));
      client.close(1001, "The local provider was closed.");
      await closed;
    });
    await Promise.all(closing);
  }
}

/** Creates a WebSocket class that explains why a message is too long. `ws` only closes the connection. */
function createSocketClass(maxBytes: number): typeof WebSocket {
  return class ExplainingSocket extends WebSocket {
    override close(code?: number, reason?: string | Buffer): void {
      if (code === MESSAGE_TOO_LONG) this.send(JSON.stringify(createTooLongEvent(maxBytes)));
      super.close(code, reason);
    }
  };
}

const MESSAGE_TOO_LONG = 1009;

function createTooLongEvent(maxBytes: number): object {
  const message = `The WebSocket message is larger than ${maxBytes} bytes.`;
  return createErrorEvent(new ApiProblem(413, message, { code: "request_too_large" }));
}
