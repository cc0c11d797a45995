/**
 * A response whose text is in memory. A socket sends the text directly. A readable body is created only on
 * request, because creating and reading one costs more than the rest of a short response.
 */
export class BufferedResponse extends Response {
  readonly payload: string;
  /** The header fields. Once `headers` has been read, `#headers` replaces them. */
  readonly #fields: Record<string, string>;
  #headers: Headers | null = null;
  #readable: Response | null = null;

  /** Header names must be lowercase. */
  constructor(payload: string, headers: Readonly<Record<string, string>>, status = 200) {
    super(null, status === 200 ? undefined : { status }); // parsing an empty init takes time
    this.payload = payload;
    this.#fields = { ...headers };
  }

  /** The header fields to send, with `content-length`. */
  get headerFields(): Record<string, string> {
    const fields = this.#headers ? Object.fromEntries(this.#headers) : this.#fields;
    return { ...fields, "content-length": String(Buffer.byteLength(this.payload)) };
  }

  /** Sets a header. The name must be lowercase. */
  setHeader(name: string, value: string): void {
    if (this.#headers) this.#headers.set(name, value);
    else this.#fields[name] = value;
  }

  override get headers(): Headers {
    this.#headers ??= new Headers(this.#fields);
    return this.#headers;
  }

  override get body(): Response["body"] {
    return this.#toReadable().body;
  }

  override get bodyUsed(): boolean {
    return this.#readable?.bodyUsed ?? false;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#toReadable().arrayBuffer();
  }

  override blob(): Promise<Blob> {
    return this.#toReadable().blob();
  }

  override bytes(): ReturnType<Response["bytes"]> {
    return this.#toReadable().bytes();
  }

  override clone(): Response {
    return this.#toReadable().clone();
  }

  override formData(): Promise<FormData> {
    return this.#toReadable().formData();
  }

  override json(): Promise<unknown> {
    return this.#toReadable().json();
  }

  override text(): Promise<string> {
    return this.#toReadable().text();
  }

  #toReadable(): Response {
    const { status, headers } = this;
    this.#readable ??= new Response(this.payload, { status, headers });
    return this.#readable;
  }
}
