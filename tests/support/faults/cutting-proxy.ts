import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** The proxy's treatment of one exchange. */
export interface Cut {
  /** Passes on this many events, then ends the connection. @default all of them */
  readonly events?: number;
  /** Passes on half of the event after them. @default false */
  readonly half?: boolean;
  /** How the connection ends: reset, or like a response that is complete. @default "reset" */
  readonly by?: "reset" | "end";
  /** Ends the connection before the request is passed on. @default false */
  readonly refuses?: boolean;
  /** Never answers, and does not pass the request on. @default false */
  readonly swallows?: boolean;
  /** Waits before it passes on each event, in milliseconds. @default 0 */
  readonly delayMs?: number;
  /** Sends nothing more after the events, and keeps the connection. @default false */
  readonly stalls?: boolean;
}

/** A request that the proxy has received. */
export interface ProxiedRequest {
  /** Such as `POST /v1/responses`, without the query. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** A proxy between an adapter and a provider that cuts connections as planned. */
export interface CuttingProxy {
  /** Ends in `/v1`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ProxiedRequest[];
  /** How many responses were created: requests that reached the provider and were accepted. */
  readonly created: number;
  /** How many connections were cut. */
  readonly cuts: number;
}

/** Starts a proxy to `target`, which ends in `/v1`. It is closed when the test finishes. */
export async function startCuttingProxy(
  target: string,
  plan: (request: ProxiedRequest, index: number) => Cut | null,
): Promise<CuttingProxy> {
  const requests: ProxiedRequest[] = [];
  const counts = { created: 0, cuts: 0 };
  const closing = new AbortController();
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy()); // the adapter has disconnected
  });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    const { pathname, searchParams: query } = new URL(url, "http://proxy");
    const bytes = await buffer(incoming);
    const request = { route: `${method} ${pathname}`, query, body: bytes.toString() };
    const cut = plan(request, requests.push(request) - 1);
    const end = (by = cut?.by ?? "reset") => {
      counts.cuts++;
      if (by === "end") response.end();
      else response.destroy();
    };
    if (cut?.refuses) return end("reset");
    if (cut?.swallows) return;
    const { host: _host, connection: _connection, ...passed } = headers;
    const leaving = new AbortController();
    response.on("close", () => leaving.abort());
    const answer = await fetch(`${target.replace(/\/v1$/, "")}${url}`, {
      method,
      headers: passed as Record<string, string>,
      signal: AbortSignal.any([leaving.signal, closing.signal]),
      ...(method === "POST" ? { body: bytes } : {}),
    });
    if (request.route === "POST /v1/responses" && answer.ok) counts.created++;
    if (cut && cut.events === 0 && !cut.half && !cut.stalls) return end("reset");
    const type = answer.headers.get("content-type") ?? "";
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!type.startsWith("text/event-stream") || !answer.body) {
      response.end(Buffer.from(await answer.arrayBuffer()));
      return;
    }
    let passedOn = 0;
    for await (const event of splitEvents(answer.body)) {
      if (cut?.delayMs) await sleep(cut.delayMs);
      if (passedOn++ === cut?.events) {
        if (cut.stalls) return;
        // Waits for the bytes to be sent: a reset drops what is buffered.
        if (cut.half) await write(response, event.slice(0, event.length / 2));
        await sleep(5);
        leaving.abort();
        return end();
      }
      await write(response, event);
    }
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    closing.abort();
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get created() {
      return counts.created;
    },
    get cuts() {
      return counts.cuts;
    },
  };
}

async function write(response: ServerResponse, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    response.write(text, (error) => (error ? reject(error) : resolve())),
  );
}

/** Splits a stream into events, each with the blank line at its end. Comments are passed on with them. */
async function* splitEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield text.slice(0, end + 2);
      text = text.slice(end + 2);
    }
  }
}
