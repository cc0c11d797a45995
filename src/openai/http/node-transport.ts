import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { findBuiltinModule } from "../../base/call-fence.ts";
import { TransportClosedError, TransportTimeoutError } from "../errors/transport-errors.ts";
import {
  type EncodedForm,
  encodeForm,
  type HttpRequest,
  isForm,
  type Transport,
} from "./transport.ts";

/**
 * Sends requests with Node's HTTP client, over connections of its own: Node's `fetch` gives up after five minutes
 * without headers, and a turn with hosted tools can take longer. The client is loaded at the first request.
 */
export function nodeTransport(): Transport {
  const sendHead = createSender();
  return async (request) => {
    const answer = await exchange(request, sendHead);
    const { statusCode: status = 0 } = answer;
    const getHeader = (name: string) => findHeader(answer.rawHeaders, name);
    const forEachChunk = (onChunk: OnChunk) => readWithEvents(answer, onChunk);
    const cancel = () => void answer.destroy();
    return { status, header: getHeader, chunks: iterateBody(answer), forEachChunk, cancel };
  };
}

/** Starts a request, whose body is not sent yet. */
type SendHead = (
  request: Pick<HttpRequest, "method" | "url" | "headers" | "timeoutMs">,
) => ClientRequest;

const MAX_CONNECT_MS = 30_000;
/** Keeps connections open while a tool runs between two turns. The server's own limit wins. */
const IDLE_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 1_024;

/** A protocol is loaded at its first request: HTTPS takes 10 ms of CPU, plain HTTP 3 ms. */
function createSender(): SendHead {
  const protocols = new Map<string, Connections>();
  return ({ method, url, headers, timeoutMs }) => {
    const { protocol, hostname, port, pathname, search } = new URL(url);
    let connections = protocols.get(protocol);
    if (!connections) {
      connections = openConnections(protocol);
      protocols.set(protocol, connections);
    }
    return connections.request({
      agent: connections.agent,
      host: hostname.replace(/^\[|\]$/g, ""), // of an IPv6 address
      port,
      path: `${pathname}${search}`,
      method,
      headers: { "accept-encoding": "identity", "user-agent": "weakincentives", ...headers },
      timeout: timeoutMs,
    });
  };
}

/** Node's client of one protocol, with its open connections. */
interface Connections {
  readonly agent: HttpAgent;
  readonly request: NodeHttp["request"];
}

type NodeHttp = typeof import("node:http");

function openConnections(protocol: string): Connections {
  // Not imported, so that bundles for other runtimes have no `node:` module.
  const name = protocol === "https:" ? "node:https" : "node:http";
  const { Agent, request } = findBuiltinModule(name) as NodeHttp;
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_CONNECTIONS };
  return { agent: new Agent(options), request };
}

/** Sends one request. Resolves when the headers of its response have arrived. */
function exchange(request: HttpRequest, sendHead: SendHead): Promise<IncomingMessage> {
  const { signal, timeoutMs } = request;
  return new Promise((resolve, reject) => {
    const { headers, content } = encodeBody(request);
    const sent = sendHead({ ...request, headers });
    let answer: IncomingMessage | null = null;
    const fail = (reason: unknown) => {
      reject(reason);
      (answer ?? sent).destroy(reason instanceof Error ? reason : new Error(String(reason)));
    };
    const onAbort = () => fail(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    let isClosed = false;
    const onTimeout = () => {
      const { connecting, bytesRead } = sent.socket ?? {};
      // What has arrived while this process was busy is read first. It restarts the socket's timer.
      setImmediate(() => {
        const { socket } = sent;
        if (isClosed || socket?.connecting !== connecting || socket?.bytesRead !== bytesRead)
          return;
        if (answer && waitsForReader(answer)) return void answer.socket.setTimeout(timeoutMs);
        const code = answer ? "UND_ERR_BODY_TIMEOUT" : "UND_ERR_HEADERS_TIMEOUT";
        fail(new TransportTimeoutError(code));
      });
    };
    sent.on("socket", (socket) => {
      socket.on("timeout", onTimeout);
      if (socket.connecting) limitConnecting(socket, { timeoutMs, fail });
    });
    sent.on("error", (error) => reject(explainReset(error)));
    sent.on("close", () => {
      isClosed = true;
      signal?.removeEventListener("abort", onAbort);
      sent.socket?.off("timeout", onTimeout);
    });
    sent.on("response", (message) => {
      answer = message;
      resolve(message);
    });
    if (content instanceof Uint8Array || content === undefined) sent.end(content);
    else writeForm(sent, content).catch(fail);
  });
}

/** Whether a body has data that is not read, so that the reader is slow, not the server. */
function waitsForReader(body: Readable): boolean {
  const isHeld = body.isPaused() && body.listenerCount("readable") === 0; // an iterator pauses it, too
  return isHeld || body.readableLength > 0;
}

/** Converts Node's errors for a connection that the server has closed. They read as if the caller had aborted. */
function explainReset(error: Error): Error {
  const isReset = "code" in error && error.code === "ECONNRESET";
  const isClosed = isReset && /^(?:aborted|socket hang up)$/.test(error.message);
  return isClosed ? new TransportClosedError() : error;
}

/** Ends a request whose connection is not open in time. */
function limitConnecting(
  socket: Socket,
  { timeoutMs, fail }: { readonly timeoutMs: number; readonly fail: (error: Error) => void },
): void {
  let isOver = false;
  const expire = () => {
    if (!isOver) fail(new TransportTimeoutError("UND_ERR_CONNECT_TIMEOUT"));
  };
  // Real time: a connection that hangs is independent of the clock. It may have opened while this process was busy.
  const timer = setTimeout(() => setImmediate(expire), Math.min(timeoutMs, MAX_CONNECT_MS));
  const clear = () => {
    isOver = true;
    clearTimeout(timer);
  };
  socket.once("encrypted" in socket ? "secureConnect" : "connect", clear).once("close", clear);
}

interface EncodedBody {
  readonly headers: HttpRequest["headers"];
  readonly content: Uint8Array | EncodedForm | undefined;
}

function encodeBody({ body, headers }: HttpRequest): EncodedBody {
  if (body === null) return { headers, content: undefined };
  const content = isForm(body) ? encodeForm(body) : toBytes(body);
  const length = { "content-length": String(content.length) };
  const type = "contentType" in content && { "content-type": content.contentType };
  return { headers: { ...headers, ...type, ...length }, content };
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

/**
 * Writes a form, as fast as the connection accepts it. The memory of a piece is freed as soon as it is sent: otherwise
 * the pieces of a large file pile up until the garbage collector runs.
 */
async function writeForm(sent: ClientRequest, form: EncodedForm): Promise<void> {
  const spare = new WeakSet<Uint8Array>();
  sent.on("response", (answer) => {
    answer.on("end", () => sent.writableFinished || sent.destroy()); // the server does not want the rest
  });
  for await (const piece of form.pieces((one) => spare.add(one))) {
    if (sent.destroyed) return;
    const onSent = spare.has(piece) ? () => freeMemory(piece.buffer) : undefined;
    if (!sent.write(piece, onSent)) await waitForDrain(sent);
  }
  sent.end();
}

function waitForDrain(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const onReady = () => {
      sent.off("drain", onReady).off("close", onReady);
      resolve();
    };
    sent.on("drain", onReady).on("close", onReady);
  });
}

function freeMemory(memory: ArrayBufferLike): void {
  if ("transfer" in memory && typeof memory.transfer === "function") memory.transfer(0);
}

/** Returns the first value of a header. `headers` lists names and values in turn. */
function findHeader(headers: readonly string[], name: string): string | null {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name) return headers[index + 1] ?? null;
  }
  return null;
}

type OnChunk = (chunk: Uint8Array) => Promise<void> | null;

async function* iterateBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw error instanceof Error ? explainReset(error) : error;
  }
}

/** Reads a body with events, which cost less than an iterator's promises. */
function readWithEvents(body: Readable, onChunk: OnChunk): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(error);
      body.destroy();
    };
    body.on("error", (error) => reject(explainReset(error)));
    body.on("end", resolve);
    body.on("close", () => {
      if (!body.readableEnded) reject(new TransportClosedError()); // it was canceled
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
