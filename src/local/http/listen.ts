import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";
import { BufferedResponse } from "./buffered-response.ts";
import { LazyRequest } from "./lazy-request.ts";
import { sendResponse } from "./send-response.ts";

/** Options of `LocalProvider.listen()`. */
export interface ListenOptions {
  /** The port; 0 picks any free one. @default 0 */
  readonly port?: number | undefined;
  /** The host name or IP address. @default "127.0.0.1" */
  readonly host?: string | undefined;
}

/** The keys of {@link ListenOptions}. */
export const listenKeys: KnownKeys<ListenOptions> = { host: true, port: true };

/** A provider that listens on a socket. */
export interface Listening {
  /** The base URL for SDKs. Ends in `/v1`. */
  readonly url: string;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

/** A listening server and the IP address that its host name has resolved to. */
export interface BoundServer extends Listening {
  readonly address: string;
}

type RequestHandler = (request: Request) => Response | Promise<Response>;

/** Takes over connections that ask for the WebSocket protocol. */
export interface UpgradeHandler {
  /** Completes or refuses a handshake. From here on the handler owns the connection. */
  accept(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void>;
  /** Closes all its connections. */
  close(): Promise<void>;
}

/** Returns the response to a request that no route may see, or `null` if the request is allowed. */
export type RequestGate = (incoming: IncomingMessage) => BufferedResponse | null;

/** Parts of a server that are not needed in tests of the others. */
export interface ListenServices {
  /** Takes over WebSocket requests. @default none: they are ordinary requests */
  readonly upgrades?: UpgradeHandler | undefined;
  /** Refuses requests before they are handled. WebSocket requests go to `upgrades` unchecked. @default none */
  readonly gate?: RequestGate | undefined;
}

/** Serves `handle` on a socket until it is closed. */
export async function listen(
  handle: RequestHandler,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
  { upgrades, gate }: ListenServices = {},
): Promise<BoundServer> {
  const server = createServer((incoming, outgoing) => {
    const refusal = gate?.(incoming);
    const served = refusal
      ? sendResponse(refusal, incoming, outgoing)
      : serveRequest(handle, incoming, outgoing);
    served.catch((error) => outgoing.destroy(error));
  });
  if (upgrades) handleUpgrades(server, upgrades);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(createListenError(port, host, cause)));
    server.listen(port, host, resolve);
  });
  const { port: actualPort, address } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    address,
    url: `http://${name}:${actualPort}/v1`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await upgrades?.close();
      await closed;
    },
  };
}

function handleUpgrades(server: Server, upgrades: UpgradeHandler): void {
  server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!isWebSocketRequest(incoming)) return ignoreUpgrade(server, incoming, { socket, head });
    upgrades.accept(incoming, socket, head).catch((error) => socket.destroy(error));
  });
}

function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * Serves a request that offers another protocol as if it did not. Java's HTTP client offers `h2c` in each request.
 * Node has already detached the connection from its parser, so the connection is started again with the same request.
 */
function ignoreUpgrade(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  { socket, head }: { readonly socket: Socket; readonly head: Buffer },
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(?:upgrade|connection|http2-settings)$/i.test(String(rawHeaders[at])))
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

async function serveRequest(
  handle: RequestHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = LazyRequest.from(incoming, outgoing);
  const response = request ? await handleRequest(handle, request) : createEmptyResponse(400);
  if (response) await sendResponse(response, incoming, outgoing);
  else outgoing.destroy();
}

/** Returns `null` if the connection is to be dropped. */
async function handleRequest(handle: RequestHandler, request: Request): Promise<Response | null> {
  try {
    return await handle(request);
  } catch (error) {
    return error instanceof ConnectionDroppedError ? null : createEmptyResponse(500);
  }
}

function createEmptyResponse(status: number): Response {
  return new BufferedResponse("", {}, status);
}

function createListenError(port: number, host: string, cause: Error): InvalidOptionError {
  return new InvalidOptionError({
    field: "listen(port)",
    value: `${host}:${port}`,
    rule: `must be free to listen on (${cause.message})`,
    remedy: "choose another port, or 0 for any free one",
    cause,
  });
}
