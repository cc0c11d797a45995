/**
 * A response whose text is at hand. A socket sends it as it is; a body that can be read is made for
 * whoever reads one, since to make it and to read it costs more than all else about a short answer.
 */
export class WholeResponse extends Response {
  readonly whole: string;
  /** Until somebody looks at `headers`, which then has them. */
  readonly #fields: Record<string, string>;
  #headers: Headers | null = null;
  #readable: Response | null = null;

  /** Names of headers are lower-case. */
  constructor(whole: string, headers: Readonly<Record<string, string>>, status = 200) {
    super(null, status === 200 ? undefined : { status }); // to read what says nothing takes time
    this.whole = whole;
    this.#fields = { ...headers };
  }

  /** What is sent before the text. */
  get head(): Record<string, string> {
    const fields = this.#headers ? Object.fromEntries(this.#headers) : this.#fields;
    return { ...fields, "content-length": String(Buffer.byteLength(this.whole)) };
  }

  /** Sets a header; its name is lower-case. */
  put(name: string, value: string): void {
    if (this.#headers) this.#headers.set(name, value);
    else this.#fields[name] = value;
  }

  override get headers(): Headers {
    this.#headers ??= new Headers(this.#fields);
    return this.#headers;
  }

  override get body(): Response["body"] {
    return this.#read().body;
  }

  override get bodyUsed(): boolean {
    return this.#readable?.bodyUsed ?? false;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read().arrayBuffer();
  }

  override blob(): Promise<Blob> {
    return this.#read().blob();
  }

  override bytes(): ReturnType<Response["bytes"]> {
    return this.#read().bytes();
  }

  override clone(): Response {
    return this.#read().clone();
  }

  override formData(): Promise<FormData> {
    return this.#read().formData();
  }

  override json(): Promise<unknown> {
    return this.#read().json();
  }

  override text(): Promise<string> {
    return this.#read().text();
  }

  #read(): Response {
    const { status, headers } = this;
    this.#readable ??= new Response(this.whole, { status, headers });
    return this.#readable;
  }
}
