import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/**
 * A request over Node's own message, whose parts are created when they are asked for. With `WholeResponse` it
 * serves 1.4 times the turns per second of hono's adapter (decision 34).
 */
export class SocketRequest implements Request {
  readonly method: string;
  readonly url: string;
  // What only a browser would say.
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
  #isUsed = false;

  /** `null` if its address is not to be taken as it stands: it needs a reader of its own. */
  static from(incoming: IncomingMessage, outgoing: ServerResponse): SocketRequest | null {
    const { host = "" } = incoming.headers;
    const url = String(incoming.url);
    if (!PLAIN_HOST.test(host) || !PLAIN_PATH.test(url) || url.includes("/.")) return null;
    return new SocketRequest(`http://${host}${url}`, incoming, outgoing);
  }

  private constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = String(incoming.method);
    this.url = url;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** Of its body, if the client said it. */
  get saidLength(): number | null {
    const said = this.#incoming.headers["content-length"];
    return said === undefined ? null : Number(said);
  }

  /** Whether nothing of it is still to come. */
  get isRead(): boolean {
    return this.#incoming.readableEnded || !this.#hasBody;
  }

  get headers(): Headers {
    this.#headers ??= headersOf(this.#incoming);
    return this.#headers;
  }

  /** Aborts if the client goes before it has its answer. */
  get signal(): AbortSignal {
    this.#controller ??= this.#untilGone();
    return this.#controller.signal;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (!this.#hasBody) return null;
    this.#body ??= streamOf(this.#incoming);
    return this.#body;
  }

  get bodyUsed(): boolean {
    return this.#isUsed;
  }

  async text(): Promise<string> {
    if (this.#isUsed || this.#body) return await this.#whole().text();
    this.#isUsed = true;
    return await textOf(this.#incoming);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return await this.#whole().arrayBuffer();
  }

  async blob(): Promise<Blob> {
    return await this.#whole().blob();
  }

  async bytes(): ReturnType<Request["bytes"]> {
    return await this.#whole().bytes();
  }

  async formData(): Promise<FormData> {
    return await this.#whole().formData();
  }

  clone(): Request {
    throw new TypeError("A request from a socket is read once");
  }

  get #hasBody(): boolean {
    return this.method !== "GET" && this.method !== "HEAD";
  }

  #whole(): Response {
    if (this.#isUsed) throw new TypeError("Body is unusable");
    this.#isUsed = true;
    return new Response(this.body, { headers: this.headers });
  }

  #untilGone(): AbortController {
    const controller = new AbortController();
    const outgoing = this.#outgoing;
    const close = () => {
      if (!outgoing.writableFinished) controller.abort(gone());
    };
    if (outgoing.closed) close();
    else outgoing.once("close", close);
    return controller;
  }
}

const PLAIN_HOST = /^[a-z0-9.-]+(?::(?:[1-5]?\d{1,4}|6[0-4]\d{3}))?$/;
const PLAIN_PATH = /^\/[\w!$&'()*+,;=:@~./?-]*$/;

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(String(rawHeaders[at]), String(rawHeaders[at + 1]));
  return headers;
}

/** Read as fast as it is taken. To give it up ends no connection: the answer is still to be sent. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
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

function textOf(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    if (incoming.destroyed) return reject(gone());
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

function gone(): Error {
  return new Error("the client has gone");
}
