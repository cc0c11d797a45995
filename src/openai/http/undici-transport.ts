import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { loadUndici } from "./load-undici.ts";
import { encodeForm, type HttpRequest, isForm, type Transport } from "./transport.ts";

/**
 * Sends requests with undici, over its own connection pool: Node's `fetch` gives up after five
 * minutes without headers, and a turn with hosted tools can take longer. Undici is loaded at the
 * first request.
 */
export function undiciTransport(timeoutMs: number): Transport {
  let loading: Promise<Connections> | null = null;
  let connections: Connections | null = null;
  let connectionFreed: Promise<void> | null = null;
  return async (request) => {
    loading ??= openConnections(timeoutMs);
    connections ??= await loading;
    const { send, contentOf } = connections;
    if (connectionFreed) await connectionFreed;
    const { method, signal } = request;
    const { body, headers } = contentOf(request);
    const { origin, pathname, search } = new URL(request.url);
    const answer = await send({
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { "accept-encoding": "identity", "user-agent": "weakincentives", ...headers },
      body,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
      ...(signal && { signal }),
    });
    const getHeader = (name: string) => {
      const value = answer.headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? null;
    };
    const onEnd = () => {
      connectionFreed = waitForNextLoop(() => {
        connectionFreed = null;
      });
    };
    const chunks = runAfterEnd(answer.body, onEnd);
    const forEachChunk = (onChunk: OnChunk) => readWithEvents(answer.body, onChunk, onEnd);
    const cancel = () => void answer.body.on("error", () => {}).destroy(); // destroy() emits an error
    return { status: answer.statusCode, header: getHeader, chunks, forEachChunk, cancel };
  };
}

/**
 * A connection is reusable one turn of the event loop after its response was read. A request sent
 * earlier opens another connection.
 */
function waitForNextLoop(onReached: () => void): Promise<void> {
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      onReached();
      resolve();
    });
  });
}

async function* runAfterEnd<Part>(
  parts: AsyncIterable<Part>,
  end: () => void,
): AsyncGenerator<Part> {
  yield* parts;
  end();
}

type OnChunk = (chunk: Uint8Array) => Promise<void> | null;

/** Reads a body with events, which cost less than an iterator's promises for many small chunks. */
function readWithEvents(body: Readable, onChunk: OnChunk, onEnd: () => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(error);
      body.destroy();
    };
    body.on("error", reject); // also if the body is closed before its end
    body.on("end", () => {
      onEnd();
      resolve();
    });
    body.on("data", (chunk: Uint8Array) => {
      try {
        const pending = onChunk(chunk);
        if (pending === null) return;
        body.pause();
        pending.then(() => body.resume(), fail);
      } catch (error) {
        fail(error);
      }
    });
  });
}

type Connections = Awaited<ReturnType<typeof openConnections>>;

const MAX_CONNECT_MS = 30_000;
/** Keeps connections open while a tool runs between two turns. The server's own limit wins. */
const IDLE_MS = 30_000;

async function openConnections(timeoutMs: number) {
  const [{ Agent, buildConnector, send }, { Readable: NodeReadable }] = await Promise.all([
    loadUndici(),
    import("node:stream"),
  ]);
  const spare = new WeakSet<Uint8Array>();
  const timeout = Math.min(timeoutMs, MAX_CONNECT_MS);
  // No HTTP/2: with one connection per request, a lost connection affects one request only.
  const connector = buildConnector({ timeout, allowH2: false });
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: IDLE_MS,
    connect: (options, callback) =>
      connector(options, (...connected) => {
        if (connected[1]) freeSentPieces(connected[1], spare);
        callback(...connected);
      }),
    allowH2: false,
  });
  const toContent = ({ body, headers }: HttpRequest) => {
    if (!isForm(body)) return { body, headers };
    const { contentType, length, pieces } = encodeForm(body);
    const own = { "content-type": contentType, "content-length": String(length) };
    return {
      body: NodeReadable.from(pieces((piece) => spare.add(piece))),
      headers: { ...headers, ...own },
    };
  };
  const sendRequest = (options: Dispatcher.RequestOptions) => send(agent, options);
  return { send: sendRequest, contentOf: toContent };
}

/**
 * Frees a spare piece as soon as the socket has sent it. Otherwise the pieces of a large file pile
 * up until the garbage collector runs, after 64 MB.
 */
function freeSentPieces(socket: Socket, spare: WeakSet<Uint8Array>): void {
  const { write } = socket;
  socket.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const isSpare = rest.length === 0 && chunk instanceof Uint8Array && spare.delete(chunk);
    const callbacks = isSpare ? [() => freeMemory(chunk.buffer)] : rest;
    return Reflect.apply(write, socket, [chunk, ...callbacks]);
  };
}

function freeMemory(memory: ArrayBufferLike): void {
  if ("transfer" in memory && typeof memory.transfer === "function") memory.transfer(0);
}
