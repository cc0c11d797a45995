import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { isPlainObject } from "../../../src/base/freeze.ts";
import { maybeTextAt, recordsAt } from "../../../src/base/reading.ts";

/** A request that has come by. */
export interface RelayedRequest {
  readonly method: string;
  /** Below `/v1`. */
  readonly path: string;
  /** `{}` for what is no JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The container that it is about: named in its path, or by a tool. */
  readonly containerId: string | null;
}

/** When something happens: before a request is passed on, in the middle of it, or before its answer is. */
export type Moment = "before" | "during" | "after";

/** What is to happen at a request. */
export interface Strike {
  /** Looked for in the method and the path: `/^POST .*\/files$/`. */
  readonly on: RegExp;
  readonly fits?: (request: RelayedRequest) => boolean;
  /** Counted from when the strike was set. @default 1 */
  readonly nth?: number;
  /** At so many requests from there on. @default 1 */
  readonly times?: number;
  readonly when: Moment;
  /** `containerId`: the request's, or for one that makes a container that of its answer. */
  act(containerId: string): Promise<void>;
}

/** An answer that is not the server's. */
export interface OwnAnswer {
  readonly status: number;
  readonly json: object;
}

/** Stands between a client and a server, on a socket of its own, and strikes when it is told to. */
export interface Relay extends AsyncDisposable {
  /** `http://127.0.0.1:port/v1`. */
  readonly url: string;
  /** Every request, in the order they came. */
  readonly requests: readonly RelayedRequest[];
  strike(strike: Strike): { readonly struck: number };
  /** Answers what `answer` has an answer for; that may change while a request is under way. */
  answerBy(answer: (request: RelayedRequest) => OwnAnswer | null): void;
}

/** Passes everything on to `to`. A connection that breaks behind it breaks before it too. */
export async function relayTo(to: string): Promise<Relay> {
  const requests: RelayedRequest[] = [];
  const strikes: SetStrike[] = [];
  const answerers: ((request: RelayedRequest) => OwnAnswer | null)[] = [];
  const own = (seen: RelayedRequest) => answerers.map((one) => one(seen)).find(Boolean) ?? null;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const seen = seenIn(request, bytes);
    requests.push(seen);
    const due = strikes.filter((one) => one.isDue(seen));
    const act = async (when: Moment, id = seen.containerId) => {
      for (const one of due) if (one.strike.when === when) await one.act(id ?? "");
    };
    await act("before");
    const said = own(seen);
    if (said) return answerWith(response, said);
    const isStruck = due.some(({ strike }) => strike.when === "during");
    const middle = isStruck && seen.method === "POST" ? () => act("during") : null;
    const answer = await passedOn(to, request, { bytes, middle, isOver: () => own(seen) !== null });
    const whole = answer ? await buffer(answer) : Buffer.alloc(0);
    await act("after", seen.containerId ?? idIn(whole));
    const instead = own(seen);
    if (instead) return answerWith(response, instead);
    if (!answer) return void response.destroy();
    response.writeHead(answer.statusCode ?? 502, kept(answer.headers));
    if (!isStruck || middle) return void response.end(whole);
    response.write(whole.subarray(0, whole.length / 2));
    await act("during");
    response.destroy();
  }

  const server = createServer((request, response) => {
    pass(request, response).catch(() => void response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    strike(strike) {
      const set = new SetStrike(strike);
      strikes.push(set);
      return set;
    },
    answerBy: (answer) => void answerers.push(answer),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
    },
  };
}

class SetStrike {
  readonly strike: Strike;
  struck = 0;
  #met = 0;

  constructor(strike: Strike) {
    this.strike = strike;
  }

  isDue(request: RelayedRequest): boolean {
    const { on, fits, nth = 1, times = 1 } = this.strike;
    if (!on.test(`${request.method} ${request.path}`) || fits?.(request) === false) return false;
    this.#met += 1;
    return this.#met >= nth && this.#met < nth + times;
  }

  async act(containerId: string): Promise<void> {
    this.struck += 1;
    await this.strike.act(containerId);
  }
}

interface Passing {
  readonly bytes: Buffer;
  /** What happens when half of an upload is there, or while an answer is being made. */
  readonly middle: (() => Promise<void>) | null;
  /** Whether the server's answer has become of no interest by that. */
  readonly isOver: () => boolean;
}

async function passedOn(
  to: string,
  request: IncomingMessage,
  { bytes, middle, isOver }: Passing,
): Promise<IncomingMessage | null> {
  const { method, headers } = request;
  const path = (request.url ?? "").replace(/^\/v1/, "");
  const onward = httpRequest(`${to}${path}`, {
    method,
    headers: { ...kept(headers), "content-length": bytes.length },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once("response", resolve).once("error", reject);
  });
  answered.catch(() => undefined); // it is waited for below
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

function seenIn(request: IncomingMessage, bytes: Buffer): RelayedRequest {
  const { method = "", headers } = request;
  const { pathname } = new URL(request.url ?? "", "http://127.0.0.1");
  const path = pathname.replace(/^\/v1(?=\/)/, "");
  const text = bytes.toString("latin1");
  const json: unknown = isJson(headers) && text !== "" ? JSON.parse(bytes.toString()) : {};
  const body = isPlainObject(json) ? json : {};
  const tools = recordsAt(body, "tools").map((tool) => maybeTextAt(tool, "container"));
  const named = /^\/containers\/([^/]+)/.exec(path)?.[1] ?? tools.find((id) => id !== null);
  return { method, path, body, text, containerId: named ?? null };
}

function idIn(answer: Buffer): string | null {
  const json: unknown = JSON.parse(answer.toString());
  return isPlainObject(json) ? maybeTextAt(json, "id") : null;
}

function answerWith(response: ServerResponse, { status, json }: OwnAnswer): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}

/** What is said of one connection is not true of the next. */
const ofConnection = new Set("connection host keep-alive transfer-encoding expect".split(" "));

function kept(headers: IncomingHttpHeaders): Record<string, string> {
  const stay = Object.entries(headers).filter(([name]) => !ofConnection.has(name));
  return Object.fromEntries(stay.map(([name, value]) => [name, String(value)]));
}
