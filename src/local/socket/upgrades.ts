import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestGate, UpgradeHandler } from "../http/listen.ts";
import type { ConnectionServices } from "./responses-connection.ts";
import type { SocketServer } from "./socket-server.ts";

/** Options of {@link Upgrades}. */
export interface UpgradesOptions extends ConnectionServices {
  /** Answers requests over HTTP. It answers 426 where a WebSocket is possible. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Refuses handshakes that a server without a key must not accept. @default none */
  readonly gate?: RequestGate | undefined;
}

/**
 * Accepts WebSocket handshakes of requests that the API answers with `426 Upgrade Required`. Any other answer is
 * sent over HTTP, so that keys and addresses are checked in one place.
 */
export class Upgrades implements UpgradeHandler {
  readonly #options: UpgradesOptions;
  readonly #pending = new Set<Socket>();
  #server: Promise<SocketServer> | null = null;
  #isClosed = false;

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  async accept(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    this.#pending.add(socket);
    const onError = () => socket.destroy();
    socket.on("error", onError);
    try {
      const response = await this.#authorize(incoming);
      if (response.status !== 426) return await sendResponse(incoming, socket, response);
      const server = await this.#getServer();
      if (this.#isClosed) return void socket.destroy();
      socket.off("error", onError); // from here on `ws` handles errors
      server.accept(incoming, { socket, head }, listHeaders(response));
    } finally {
      this.#pending.delete(socket);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#pending) socket.destroy();
    await (await this.#server)?.close();
  }

  async #authorize(incoming: IncomingMessage): Promise<Response> {
    const refusal = this.#options.gate?.(incoming);
    if (refusal) return refusal;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) headers.append(name, value);
    return await this.#options.fetch(new Request(`http://localhost${incoming.url}`, { headers }));
  }

  /** Loads the WebSocket library on first use. */
  #getServer(): Promise<SocketServer> {
    this.#server ??= import("./socket-server.ts").then(
      ({ SocketServer }) => new SocketServer(this.#options),
    );
    return this.#server;
  }
}

function listHeaders({ headers }: Response): readonly string[] {
  return [...headers]
    .filter(([name]) => name === "x-request-id" || name.startsWith("openai-"))
    .map(([name, value]) => `${name}: ${value}`);
}

/** Sends a response over HTTP and ends the connection. */
async function sendResponse(
  incoming: IncomingMessage,
  socket: Socket,
  response: Response,
): Promise<void> {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.assignSocket(socket);
  outgoing.once("finish", () => socket.destroySoon());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
}
