import type { HttpRequest, Transport } from "./transport.ts";

/**
 * Over undici, with a pool of connections of its own: Node's `fetch` gives up after five minutes
 * without headers, and a turn with hosted tools may last longer. It is loaded at the first request.
 */
export function undiciTransport(timeoutMs: number): Transport {
  let loading: Promise<Undici> | null = null;
  let freed: Promise<void> = Promise.resolve();
  return async (request) => {
    loading ??= load(timeoutMs);
    const { send, agent, form } = await loading;
    await freed;
    const { method, headers, body, signal } = request;
    const answer = await send(request.url, {
      method,
      headers: { "accept-encoding": "identity", "user-agent": "weakincentives", ...headers },
      body: body === null || isText(body) ? body : form(body),
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
    return { status: answer.statusCode, header, chunks };
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
  const { Agent, FormData, request: send } = await import("undici");
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: IDLE_MS,
    connect: { timeout: Math.min(timeoutMs, LONGEST_CONNECT_MS) },
    allowH2: false, // one connection a request: what cuts one off leaves the others alone
  });
  const form = (parts: Parts) => {
    const fields = new FormData();
    for (const [name, value] of parts) fields.append(name, value);
    return fields;
  };
  return { send, agent, form };
}

type Parts = Exclude<HttpRequest["body"], string | Uint8Array | null>;

function isText(body: string | Uint8Array | Parts): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}
