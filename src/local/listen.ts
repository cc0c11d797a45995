import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { InvalidOptionError } from "../base/errors.ts";
import { Dropped } from "./responses/dropped.ts";

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

/** Serves `handle` on a socket until closed. */
export async function listen(
  handle: (request: Request) => Response | Promise<Response>,
  { port = 0, host = "127.0.0.1" }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: async (request, env) => {
      try {
        return await handle(request);
      } catch (error) {
        if (!(error instanceof Dropped)) throw error;
        if ("outgoing" in env) env.outgoing.destroy();
        return new Response(null);
      }
    },
  }) as Server;
  server.on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
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

function cannotListen(port: number, host: string, cause: Error): InvalidOptionError {
  return new InvalidOptionError({
    field: "listen(port)",
    value: `${host}:${port}`,
    rule: `must be free to listen on (${cause.message})`,
    remedy: "choose another, or 0 for any that is free",
    cause,
  });
}
