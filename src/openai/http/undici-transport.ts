import type { Socket } from "node:net";
import { writtenForm } from "./multipart.ts";
import { type HttpRequest, isForm, type Transport } from "./transport.ts";

/**
 * Over undici, with a pool of connections of its own: Node's `fetch` gives up after five minutes
 * without headers, and a turn with hosted tools may last longer. It is loaded at the first request.
 */
export function undiciTransport(timeoutMs: number): Transport {
  let loading: Promise<Undici> | null = null;
  let freed: Promise<void> = Promise.resolve();
  return async (request) => {
    loading ??= load(timeoutMs);
    const { send, agent, contentOf } = await loading;
    await freed;
    const { method, signal } = request;
    const { body, headers } = contentOf(request);
    const answer = await send(request.url, {
      method,
      headers: { "accept-encoding": "identity", "user-agent": "weakincentives", ...headers },
      body,
      dispatcher: agent,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
      ...(signal && { signal }),
    });
    const header = (name: string) => {
      const value = answer.headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? null;
    };
    const chunks = ending(answer.body, () => {
      freed = nextLoop();
    });
    const cancel = () => void answer.body.on("error", () => {}).destroy(); // its own, which we asked for
    return { status: answer.statusCode, header, chunks, cancel };
  };
}

/**
 * A connection whose answer was read is free one turn of the event loop later. A request that does
 * not wait for it makes a new one.
 */
async function nextLoop(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

async function* ending<Part>(parts: AsyncIterable<Part>, end: () => void): AsyncGenerator<Part> {
  yield* parts;
  end();
}

type Undici = Awaited<ReturnType<typeof load>>;

const LONGEST_CONNECT_MS = 30_000;
/** A tool may run between two turns; the server's own word, if it gives one, wins. */
const IDLE_MS = 30_000;

async function load(timeoutMs: number) {
  const [{ Agent, buildConnector, request: send }, { Readable }] = await Promise.all([
    import("undici"),
    import("node:stream"),
  ]);
  const spare = new WeakSet<Uint8Array>();
  const timeout = Math.min(timeoutMs, LONGEST_CONNECT_MS);
  // No HTTP/2: with one connection a request, what cuts one off leaves the others alone.
  const connector = buildConnector({ timeout, allowH2: false });
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: IDLE_MS,
    connect: (options, callback) =>
      connector(options, (...connected) => {
        if (connected[1]) freeWhatIsSent(connected[1], spare);
        callback(...connected);
      }),
    allowH2: false,
  });
  const contentOf = ({ body, headers }: HttpRequest) => {
    if (!isForm(body)) return { body, headers };
    const { contentType, length, pieces } = writtenForm(body);
    const own = { "content-type": contentType, "content-length": String(length) };
    return {
      body: Readable.from(pieces((piece) => spare.add(piece))),
      headers: { ...headers, ...own },
    };
  };
  return { send, agent, contentOf };
}

/**
 * Frees a spare piece as soon as the socket has no more need of it. Else the pieces of a large file
 * would pile up until the collector comes, which is after 64 MB.
 */
function freeWhatIsSent(socket: Socket, spare: WeakSet<Uint8Array>): void {
  const { write } = socket;
  socket.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const isSpare = rest.length === 0 && chunk instanceof Uint8Array && spare.delete(chunk);
    const more = isSpare ? [() => free(chunk.buffer)] : rest;
    return Reflect.apply(write, socket, [chunk, ...more]);
  };
}

function free(memory: ArrayBufferLike): void {
  if ("transfer" in memory && typeof memory.transfer === "function") memory.transfer(0);
}
