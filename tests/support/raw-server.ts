import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A complete request. */
export interface RawRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A real HTTP server on localhost whose handler controls every response. */
export interface RawServer {
  /** `http://127.0.0.1:…`, without a path. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly RawRequest[];
  /** The number of connections opened. */
  readonly connections: number;
}

/** Starts a server that is closed, with its connections, when the test finishes. */
export async function startRawServer(
  handle: (request: RawRequest, response: ServerResponse) => void,
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    const { method = "", url: path = "", headers } = incoming;
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return; // the client disconnected while sending
    const request = { method, path, headers, body };
    requests.push(request);
    handle(request, response);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
  };
}

/** Sends a response: a string unchanged, any other body as JSON. */
export function sendResponse(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}
