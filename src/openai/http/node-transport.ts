import type { ClientRequest, Agent as HttpAgent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { findBuiltinModule } from "../../base/call-fence.ts";
import { TransportClosedError, TransportTimeoutError } from "../errors/transport-errors.ts";
import { explainReset, NodeResponse, waitsForReader } from "./node-response.ts";
import {
  type EncodedForm,
  encodeForm,
  type HttpRequest,
  type HttpResponse,
  isForm,
  type Transport,
} from "./transport.ts";

/**
 * Sends requests with Node's HTTP client, over its own connections: Node's `fetch` gives up after five minutes
 * without headers, and a turn with hosted tools can take longer. The client is loaded at the first request.
 */
export function nodeTransport(): Transport {
  const sendHead = createSender();
  return (request) =>
    new Promise((resolve, reject) => {
      const content = encodeBody(request.body);
      const sent = sendHead(request, content);
      const fail = followExchange(sent, request, { resolve, reject });
      if (content instanceof Uint8Array || content === undefined) sent.end(content);
      else writeForm(sent, content).catch(fail);
    });
}

type Content = Uint8Array | EncodedForm | undefined;

function encodeBody(body: HttpRequest["body"]): Content {
  if (body === null) return undefined;
  if (isForm(body)) return encodeForm(body);
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

/** Starts a request, whose body is not sent yet. */
type SendHead = (request: HttpRequest, content: Content) => ClientRequest;

const MAX_CONNECT_MS = 30_000;
/** Keeps connections open while a tool runs between two turns. The server's own limit wins. */
const IDLE_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 1_024;

/** A protocol is loaded at its first request: HTTPS takes 10 ms of CPU, plain HTTP 3 ms. */
function createSender(): SendHead {
  const protocols = new Map<string, Connections>();
  let last: Target | null = null;
  return ({ method, url, headers, timeoutMs }, content) => {
    // Most requests of a client have the same URL.
    const target = last?.url === url ? last : parseTarget(url);
    last = target;
    const { protocol, host, port, path } = target;
    let connections = protocols.get(protocol);
    if (!connections) {
      connections = openConnections(protocol);
      protocols.set(protocol, connections);
    }
    const { agent, request } = connections;
    const all = addHeaders(headers, content);
    return request({ agent, host, port, path, method, headers: all, timeout: timeoutMs });
  };
}

/** The parts of a URL that a request needs. */
interface Target {
  readonly url: string;
  readonly protocol: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

function parseTarget(url: string): Target {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
  return { url, protocol, host, port, path: `${pathname}${search}` };
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

function addHeaders(headers: HttpRequest["headers"], content: Content): HttpRequest["headers"] {
  if (content === undefined) return { ...DEFAULT_HEADERS, ...headers };
  const type = "contentType" in content && { "content-type": content.contentType };
  return { ...DEFAULT_HEADERS, ...headers, ...type, "content-length": String(content.length) };
}

const DEFAULT_HEADERS = { "accept-encoding": "identity", "user-agent": "weakincentives" };

/** How the promise of a response settles. */
interface Settle {
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Settles the promise of a response, when its headers have arrived or its request has failed. Returns a function that ends
 * the request with an error. The listeners do not refer to the request's body and headers, so that these can be freed.
 */
function followExchange(
  sent: ClientRequest,
  { signal, timeoutMs }: Pick<HttpRequest, "signal" | "timeoutMs">,
  { resolve, reject }: Settle,
): (reason: unknown) => void {
  let answer: IncomingMessage | null = null;
  let isClosed = false;
  const fail = (reason: unknown) => {
    reject(reason);
    (answer ?? sent).destroy(reason instanceof Error ? reason : new Error(String(reason)));
  };
  const onAbort = () => fail(signal?.reason);
  const onTimeout = () => {
    const { connecting, bytesRead } = sent.socket ?? {};
    // Data that arrived while this process was busy is read first. It restarts the socket's timer.
    setImmediate(() => {
      const { socket } = sent;
      if (isClosed || socket?.connecting !== connecting || socket?.bytesRead !== bytesRead) return;
      if (answer && waitsForReader(answer)) return void answer.socket.setTimeout(timeoutMs);
      const code = answer ? "UND_ERR_BODY_TIMEOUT" : "UND_ERR_HEADERS_TIMEOUT";
      fail(new TransportTimeoutError(code));
    });
  };
  signal?.addEventListener("abort", onAbort, ONCE);
  sent.on("socket", (socket) => {
    socket.on("timeout", onTimeout);
    if (socket.connecting) limitConnecting(socket, { timeoutMs, fail });
    // Node sets it, unless it is also the agent's timeout for idle connections, which servers shorten.
    else if (socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs);
  });
  sent.on("error", (error) => reject(explainReset(error)));
  sent.on("close", () => {
    isClosed = true;
    signal?.removeEventListener("abort", onAbort);
    sent.socket?.off("timeout", onTimeout);
    if (!answer) reject(new TransportClosedError()); // there may have been no error either, as after status 101
  });
  sent.on("response", (message) => {
    answer = message;
    resolve(new NodeResponse(message));
  });
  return fail;
}

const ONCE = { once: true };

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
  const opened = "encrypted" in socket ? "secureConnect" : "connect";
  const clear = () => {
    isOver = true;
    clearTimeout(timer);
    socket.off(opened, clear).off("close", clear); // an open connection must not keep its first request
  };
  socket.on(opened, clear).on("close", clear);
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
