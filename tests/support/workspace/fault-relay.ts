import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { parseJson, readRecords, readStringOrNull } from "../../../src/base/json.ts";

/** A request that the relay received. */
export interface RelayedRequest {
  readonly method: string;
  /** The path below `/v1`. */
  readonly path: string;
  /** The JSON body, or `{}` if the body is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The container of the request, named in its path or by a tool. */
  readonly containerId: string | null;
}

/** When a fault happens: before the request is forwarded, during it, or before its response is returned. */
export type FaultMoment = "before" | "during" | "after";

/** A fault that happens at a request. */
export interface Fault {
  /** Matches the method and path, such as `/^POST .*\/files$/`. */
  readonly on: RegExp;
  readonly matches?: (request: RelayedRequest) => boolean;
  /** The first matching request that is affected, counted from 1 since the fault was injected. @default 1 */
  readonly nth?: number;
  /** How many matching requests are affected. @default 1 */
  readonly times?: number;
  readonly when: FaultMoment;
  /** Runs the fault. `containerId` is the request's container, or the container that the response creates. */
  act(containerId: string): Promise<void>;
}

/** A response that replaces the server's. */
export interface CannedResponse {
  readonly status: number;
  readonly json: object;
}

/** A proxy between a client and a server that injects faults. */
export interface FaultRelay extends AsyncDisposable {
  /** `http://127.0.0.1:port/v1`. */
  readonly url: string;
  /** All requests, in order. */
  readonly requests: readonly RelayedRequest[];
  injectFault(fault: Fault): { readonly hits: number };
  /** Responds with the result of `answer` unless it is `null`. It is called again after the request was forwarded. */
  respondWith(answer: (request: RelayedRequest) => CannedResponse | null): void;
}

/** Starts a relay that forwards all requests to `to`. If the server's connection breaks, the client's breaks too. */
export async function startFaultRelay(to: string): Promise<FaultRelay> {
  const requests: RelayedRequest[] = [];
  const faults: InjectedFault[] = [];
  const responders: ((request: RelayedRequest) => CannedResponse | null)[] = [];
  const findResponse = (seen: RelayedRequest) =>
    responders.map((one) => one(seen)).find(Boolean) ?? null;

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const seen = parseRequest(request, bytes);
    requests.push(seen);
    const due = faults.filter((one) => one.isDue(seen));
    const act = async (when: FaultMoment, id = seen.containerId) => {
      for (const one of due) if (one.fault.when === when) await one.act(id ?? "");
    };
    await act("before");
    const cannedResponse = findResponse(seen);
    if (cannedResponse) return sendResponse(response, cannedResponse);
    const isInterrupted = due.some(({ fault }) => fault.when === "during");
    const middle = isInterrupted && seen.method === "POST" ? () => act("during") : null;
    const answer = await forward(to, request, {
      bytes,
      middle,
      isOver: () => findResponse(seen) !== null,
    });
    const whole = answer ? await buffer(answer) : Buffer.alloc(0);
    await act("after", seen.containerId ?? parseId(whole));
    const replacement = findResponse(seen);
    if (replacement) return sendResponse(response, replacement);
    if (!answer) return void response.destroy();
    response.writeHead(answer.statusCode ?? 502, filterHeaders(answer.headers));
    if (!isInterrupted || middle) return void response.end(whole);
    response.write(whole.subarray(0, whole.length / 2));
    await act("during");
    response.destroy();
  }

  const server = createServer((request, response) => {
    handleRequest(request, response).catch(() => void response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    injectFault(fault) {
      const set = new InjectedFault(fault);
      faults.push(set);
      return set;
    },
    respondWith: (answer) => void responders.push(answer),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
    },
  };
}

class InjectedFault {
  readonly fault: Fault;
  hits = 0;
  #matched = 0;

  constructor(fault: Fault) {
    this.fault = fault;
  }

  isDue(request: RelayedRequest): boolean {
    const { on, matches, nth = 1, times = 1 } = this.fault;
    if (!on.test(`${request.method} ${request.path}`) || matches?.(request) === false) return false;
    this.#matched += 1;
    return this.#matched >= nth && this.#matched < nth + times;
  }

  async act(containerId: string): Promise<void> {
    this.hits += 1;
    await this.fault.act(containerId);
  }
}

interface ForwardOptions {
  readonly bytes: Buffer;
  /** Called after half of an upload, or before the response. */
  readonly middle: (() => Promise<void>) | null;
  /** Whether the server's response is no longer needed. */
  readonly isOver: () => boolean;
}

async function forward(
  to: string,
  request: IncomingMessage,
  { bytes, middle, isOver }: ForwardOptions,
): Promise<IncomingMessage | null> {
  const { method, headers } = request;
  const path = (request.url ?? "").replace(/^\/v1/, "");
  const onward = httpRequest(`${to}${path}`, {
    method,
    headers: { ...filterHeaders(headers), "content-length": bytes.length },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once("response", resolve).once("error", reject);
  });
  answered.catch(() => undefined); // awaited below
  const half = isJson(headers) ? bytes.length : bytes.length >> 1;
  onward.write(bytes.subarray(0, half));
  await middle?.();
  if (isOver()) {
    onward.destroy();
    return null;
  }
  onward.end(bytes.subarray(half));
  return await answered;
}

function parseRequest(request: IncomingMessage, bytes: Buffer): RelayedRequest {
  const { method = "", headers } = request;
  const { pathname } = new URL(request.url ?? "", "http://127.0.0.1");
  const path = pathname.replace(/^\/v1(?=\/)/, "");
  const text = bytes.toString("latin1");
  const json: unknown = isJson(headers) && text !== "" ? JSON.parse(bytes.toString()) : {};
  const body = isPlainObject(json) ? json : {};
  const tools = readRecords(body, "tools").map((tool) => readStringOrNull(tool, "container"));
  const named = /^\/containers\/([^/]+)/.exec(path)?.[1] ?? tools.find((id) => id !== null);
  return { method, path, body, text, containerId: named ?? null };
}

/** Returns `null` for a stream of events, which creates nothing. */
function parseId(answer: Buffer): string | null {
  const parsed = parseJson(answer.toString());
  return parsed.ok && isPlainObject(parsed.value) ? readStringOrNull(parsed.value, "id") : null;
}

function sendResponse(response: ServerResponse, { status, json }: CannedResponse): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}

/** Headers that apply to one connection only. */
const CONNECTION_HEADERS = new Set(
  "connection host keep-alive transfer-encoding expect".split(" "),
);

function filterHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const stay = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name));
  return Object.fromEntries(stay.map(([name, value]) => [name, String(value)]));
}
