import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { messageOf } from "../../base/errors.ts";
import { ApiProblem, invalidType, unknownParameter } from "../api-problem.ts";
import type { IncomingFolder } from "../store/incoming-folder.ts";

/** A form that was read whole. Disposing of it removes its file, unless that was moved away. */
export interface MultipartForm extends AsyncDisposable {
  readonly fields: ReadonlyMap<string, string>;
  /** The part named `file`. */
  readonly file: UploadedFile | undefined;
}

/** A file of a form, on the disk. */
export interface UploadedFile {
  readonly path: string;
  readonly bytes: number;
  /** As the client called it: not to be trusted. */
  readonly filename: string | undefined;
}

const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 64 * 1024;

/** What boundaries, part headers and fields may add to the bytes of the file. */
const MAX_FORM_BYTES = 2 ** 20;

/** Reads `multipart/form-data` as it arrives; the file goes to the disk and is never held here. */
export async function readMultipart(
  request: Request,
  incoming: IncomingFolder,
): Promise<MultipartForm> {
  const length = Number(request.headers.get("content-length"));
  if (length > incoming.maxFileBytes + MAX_FORM_BYTES) throw tooLarge(incoming.maxFileBytes);
  const reading = new FormReading(incoming);
  try {
    return await reading.read(request);
  } catch (error) {
    await reading.remove();
    throw error;
  }
}

class FormReading {
  readonly #incoming: IncomingFolder;
  /** Ends the reading with what is wrong. */
  readonly #refusal = new AbortController();
  readonly #fields = new Map<string, string>();
  #path: string | undefined;
  #writing: Promise<UploadedFile> | undefined;
  #over = false;

  constructor(incoming: IncomingFolder) {
    this.#incoming = incoming;
  }

  async read(request: Request): Promise<MultipartForm> {
    const parser = this.#parser(request.headers.get("content-type") ?? "");
    const { signal } = this.#refusal;
    const leave = () => this.#refuse(unreadable("The client has gone"));
    request.signal.addEventListener("abort", leave, { once: true });
    try {
      await pipeline(this.#chunks(request, parser), parser, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : unreadable(messageOf(error));
    } finally {
      this.#over = true;
      request.signal.removeEventListener("abort", leave);
    }
    const file = await this.#writing;
    signal.throwIfAborted();
    return { fields: this.#fields, file, [Symbol.asyncDispose]: () => this.remove() };
  }

  async remove(): Promise<void> {
    await this.#writing?.catch(() => undefined); // read() has thrown it, or what caused it
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }

  async *#chunks(request: Request, parser: BusboyInstance): AsyncGenerator<Uint8Array> {
    const reader = request.body?.getReader();
    const cancel = () => void reader?.cancel().catch(() => undefined); // nobody is left to tell
    this.#refusal.signal.addEventListener("abort", cancel, { once: true });
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      yield read.value;
    }
    void this.#refuseIfStuck(parser);
  }

  /** The parser waits for ever for the end of a part's header that the form ended without. */
  async #refuseIfStuck(parser: BusboyInstance): Promise<void> {
    while (!this.#over && parser.writableLength > 0) await nextTurn();
    await this.#writing?.catch(() => undefined); // read() throws it
    for (let turn = 0; turn < 10 && !this.#over; turn++) await nextTurn();
    if (!this.#over) this.#refuse(unreadable("A part's header has no end"));
  }

  #parser(contentType: string): BusboyInstance {
    if (!/^multipart\/form-data\b/i.test(contentType)) throw notAForm(contentType);
    const parser = parserOf(contentType, this.#incoming.maxFileBytes);
    parser.on("file", (name, stream, filename) => {
      this.#writing ??= this.#write(name, stream, filename);
      this.#writing.catch((error: unknown) => this.#refuse(error));
    });
    parser.on("field", (name, value, _nameCut, valueCut) => {
      if (valueCut) this.#refuse(unreadable(`The field '${name}' is too long`));
      else if (name === "file") this.#refuse(invalidType("file", "a file", value));
      else this.#fields.set(name ?? "", value);
    });
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      parser.on(limit, () => this.#refuse(unreadable("It has too many parts")));
    }
    return parser;
  }

  async #write(name: string, stream: Readable, filename?: string): Promise<UploadedFile> {
    stream.on("limit", () => this.#refuse(tooLarge(this.#incoming.maxFileBytes)));
    if (name !== "file") {
      stream.on("error", () => undefined).resume(); // it is refused whole
      throw unknownParameter(name);
    }
    const path = this.#incoming.place();
    this.#path = path;
    const target = createWriteStream(path, { flags: "wx", mode: 0o600 });
    await pipeline(stream, target, { signal: this.#refusal.signal });
    return { path, bytes: target.bytesWritten, filename };
  }

  #refuse(reason: unknown): void {
    this.#refusal.abort(reason);
  }
}

function parserOf(contentType: string, fileSize: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: {
        fileSize,
        files: 1,
        fields: MAX_FIELDS,
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_FIELDS + 1,
      },
    });
  } catch (error) {
    throw unreadable(messageOf(error));
  }
}

function notAForm(contentType: string): ApiProblem {
  const message = `Invalid Content-Type header (${contentType}), expected multipart/form-data.`;
  return new ApiProblem(400, message);
}

function unreadable(problem: string): ApiProblem {
  return new ApiProblem(400, `The multipart form could not be read: ${problem}.`);
}

function tooLarge(maxBytes: number): ApiProblem {
  const message = `The file is too large: the maximum is ${maxBytes} bytes.`;
  return new ApiProblem(413, message, { param: "file" });
}
