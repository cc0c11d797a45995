import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createAnswers, type ServerBehavior } from "./server-answers.ts";

/** How a test's HTTP server differs from a plain one. */
export interface HttpBehavior extends ServerBehavior {
  /** Requests without this header value are answered with 401. */
  readonly authorization?: string;
  /** Sends a body without an end to `tools/call`: as JSON, or as one event. */
  readonly floods?: "json" | "event";
  /** Answers `tools/call` with this status and text. */
  readonly callStatus?: number;
  /** Does not answer the request that ends the session. */
  readonly keepsSession?: boolean;
}

/** A running server, with the requests that it received. */
export interface TestHttpServer {
  readonly url: string;
  readonly requests: { readonly method: string; readonly rpc: string; readonly headers: object }[];
  stop(): Promise<void>;
}

/** Starts a server without the MCP packages that speaks streamable HTTP. It stops with the test. */
export async function startHttpServer(behavior: HttpBehavior = {}): Promise<TestHttpServer> {
  const requests: TestHttpServer["requests"] = [];
  const listeners = new Set<ServerResponse>();
  const answers = createAnswers(behavior, {
    notify: (method, params = {}) => {
      const message = JSON.stringify({ jsonrpc: "2.0", method, params });
      for (const listener of listeners) listener.write(`event: message\ndata: ${message}\n\n`);
    },
    crash: () => {},
    writeRaw: () => {},
    startHelper: () => 0,
    readEnvironment: () => ({}),
  });
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const message = body === "" ? {} : JSON.parse(body);
    const { method = "", headers } = request;
    requests.push({ method, rpc: String(message.method ?? ""), headers });
    if (behavior.authorization !== undefined && headers.authorization !== behavior.authorization) {
      response.writeHead(401).end("Who are you?");
    } else if (method === "DELETE") {
      if (!behavior.keepsSession) response.writeHead(200).end();
    } else if (method !== "POST") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      listeners.add(response);
    } else if (message.method === "tools/call" && behavior.floods) flood(response, behavior.floods);
    else if (message.method === "tools/call" && behavior.callStatus !== undefined) {
      response.writeHead(behavior.callStatus).end("Gone.");
    } else {
      const answer = answers(message);
      if (message.id === undefined) response.writeHead(202).end();
      else if (answer !== null) {
        const type = { "content-type": "application/json", "mcp-session-id": "session-1" };
        response.writeHead(200, type).end(JSON.stringify({ jsonrpc: "2.0", ...answer }));
      }
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp?key=in-the-url`, requests, stop };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Writes until the client closes the connection. */
function flood(response: ServerResponse, as: "json" | "event"): void {
  const type = as === "json" ? "application/json" : "text/event-stream";
  response.writeHead(200, { "content-type": type });
  response.write(as === "json" ? '{"a":"' : "data: ");
  const chunk = "x".repeat(1_000_000);
  const write = () => {
    if (response.destroyed) return;
    if (response.write(chunk)) setImmediate(write);
    else response.once("drain", write);
  };
  write();
}
