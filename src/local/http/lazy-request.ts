import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { toRequestUrl } from "./request-url.ts";

/**
 * A request backed by Node's `IncomingMessage` that creates its parts on first use: most routes need few of them
 * (decision 34).
 */
export class LazyRequest implements Request {
  readonly method: string;
  readonly url: string;
  // Only meaningful in a browser.
  readonly cache = "default";
  readonly credentials = "same-origin";
  readonly destination = "";
  readonly integrity = "";
  readonly keepalive = false;
  readonly mode = "cors";
  readonly redirect = "follow";
  readonly referrer = "about:client";
  readonly referrerPolicy = "";
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #headers: Headers | null = null;
  #controller: AbortController | null = null;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null = null;
  #isBodyUsed = false;

  /** Returns `null` if the address is invalid. */
  static from(incoming: IncomingMessage, outgoing: ServerResponse): LazyRequest | null {
    const url = toRequestUrl(incoming);
    return url === null ? null : new LazyRequest(url, incoming, outgoing);
  }

  private constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = String(incoming.method);
    this.url = url;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** The declared length of the body, or `null` without a `content-length` header. */
  get contentLength(): number | null {
    const declared = this.#incoming.headers["content-length"];
    return declared === undefined ? null : Number(declared);
  }

  /** Returns a header without creating `headers`. The name must be lowercase. */
  readHeader(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return value === undefined ? undefined : String(value);
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#incoming);
    return this.#headers;
  }

  /** Aborts if the client disconnects before the response is sent. */
  get signal(): AbortSignal {
    this.#controller ??= this.#createController();
    return this.#controller.signal;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (!this.#hasBody) return null;
    this.#body ??= toBodyStream(this.#incoming);
    return this.#body;
  }

  get bodyUsed(): boolean {
    return this.#isBodyUsed;
  }

  async text(): Promise<string> {
    if (this.#isBodyUsed || this.#body) return await this.#consumeBody().text();
    this.#isBodyUsed = true;
    return await readIncomingText(this.#incoming);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return await this.#consumeBody().arrayBuffer();
  }

  async blob(): Promise<Blob> {
    return await this.#consumeBody().blob();
  }

  async bytes(): ReturnType<Request["bytes"]> {
    return await this.#consumeBody().bytes();
  }

  async formData(): Promise<FormData> {
    return await this.#consumeBody().formData();
  }

  clone(): Request {
    throw new TypeError("A request from a socket can be read only once and cannot be cloned.");
  }

  get #hasBody(): boolean {
    return this.method !== "GET" && this.method !== "HEAD";
  }

  #consumeBody(): Response {
    if (this.#isBodyUsed) throw new TypeError("Body is unusable");
    this.#isBodyUsed = true;
    return new Response(this.body, { headers: this.headers });
  }

  #createController(): AbortController {
    const controller = new AbortController();
    const outgoing = this.#outgoing;
    const close = () => {
      if (!outgoing.writableFinished) controller.abort(createDisconnectError());
    };
    if (outgoing.closed) close();
    else outgoing.once("close", close);
    return controller;
  }
}

/** Returns a request's header, or `undefined`. The name must be lowercase. Faster than `headers` for a `LazyRequest`. */
export function readHeader(request: Request, name: string): string | undefined {
  if (request instanceof LazyRequest) return request.readHeader(name);
  return request.headers.get(name) ?? undefined;
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(String(rawHeaders[at]), String(rawHeaders[at + 1]));
  return headers;
}

/** Streams the body with backpressure. Canceling it keeps the connection, which the response still needs. */
function toBodyStream(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | null = null;
  return new ReadableStream({
    async pull(controller) {
      reader ??= Readable.toWeb(incoming).getReader();
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function readIncomingText(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    if (incoming.destroyed) return reject(createDisconnectError());
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const [first = Buffer.alloc(0)] = parts;
      const text = (parts.length > 1 ? Buffer.concat(parts) : first).toString("utf8");
      resolve(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
    });
    incoming.on("error", reject);
  });
}

const BYTE_ORDER_MARK = "\uFEFF";

function createDisconnectError(): Error {
  return new Error("The client disconnected.");
}
