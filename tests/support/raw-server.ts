import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A request as it came, whole. */
export interface RawRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A real server on this machine that answers however its handler does, well or badly. */
export interface RawServer {
  /** `http://127.0.0.1:…`, without a path. */
  readonly url: string;
  /** In the order of their arrival. */
  readonly requests: readonly RawRequest[];
  /** How many connections were made. */
  readonly connections: number;
}

/** Starts a server that is gone, with its connections, when the test is over. */
export async function rawServer(
  handle: (request: RawRequest, response: ServerResponse) => void,
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    const { method = "", url: path = "", headers } = incoming;
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return; // the client went away while it was sending
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

/** Answers with JSON, or with a text as it is. */
export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}
