import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { InvalidOptionError } from "../../base/errors.ts";
import { Dropped } from "../turn/dropped.ts";
import { SocketRequest } from "./socket-request.ts";
import { WholeResponse } from "./whole-response.ts";

/** Where a provider listens. */
export interface ListenOptions {
  /** 0: any that is free. @default 0 */
  readonly port?: number | undefined;
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
}

/** A provider on a socket. */
export interface Listening {
  /** Ends in `/v1`: what SDKs take as base URL. */
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** What answers requests. */
type Handle = (request: Request) => Response | Promise<Response>;

/** Serves `handle` on a socket until closed. */
export async function listen(
  handle: Handle,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    serve(handle, incoming, outgoing).catch((error) => outgoing.destroy(error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(cannotListen(port, host, cause)));
    server.listen(port, host, resolve);
  });
  const { port: given } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${given}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whole answers are sent as they are; all else is left to hono's adaptor, which costs more. */
async function serve(
  handle: Handle,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = SocketRequest.from(incoming, outgoing);
  if (!request) return await adapted(handle)(incoming, outgoing);
  const answering = (async () => await handle(request))();
  const response = await answering.catch(() => null); // which the adaptor hears of below
  if (!(response instanceof WholeResponse && request.isRead))
    return await adapted(() => answering)(incoming, outgoing);
  outgoing.writeHead(response.status, response.head);
  outgoing.end(response.whole);
}

function adapted(handle: Handle): ReturnType<typeof getRequestListener> {
  const fetch: Parameters<typeof getRequestListener>[0] = async (request, { outgoing }) => {
    try {
      const drop = () => setImmediate(() => outgoing.socket?.destroySoon());
      return cutShort(await handle(request), drop);
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
      outgoing.destroy();
      return new Response(null);
    }
  };
  // The process that we are in has its own Request and Response, and keeps them.
  return getRequestListener(fetch, { overrideGlobalObjects: false });
}

/** A stream that fails ends with its connection, so that nobody takes it for whole. */
function cutShort(response: Response, drop: () => void): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!response.body || !isStream) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        drop(); // and no end to it, which would be one that was meant
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const headers = new Headers(response.headers);
  headers.set("transfer-encoding", "chunked"); // or what comes first would be held back
  return new Response(body, { status: response.status, headers });
}

function cannotListen(port: number, host: string, cause: Error): InvalidOptionError {
  return new InvalidOptionError({
    field: "listen(port)",
    value: `${host}:${port}`,
    rule: `must be free to listen on (${cause.message})`,
    remedy: "choose another, or 0 for any that is free",
    cause,
  });
}
