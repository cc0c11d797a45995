import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { getErrorMessage } from "../../base/errors.ts";
import { ApiProblem, invalidType, unknownParameter } from "../api-problem.ts";
import type { IncomingFolder } from "../store/incoming-folder.ts";
import { explainStorage } from "../store/storage-problem.ts";

/** A form that was read completely. Disposing it deletes its file unless the file was moved. */
export interface MultipartForm extends AsyncDisposable {
  readonly fields: ReadonlyMap<string, string>;
  /** The part with the file. */
  readonly file: UploadedFile | undefined;
}

/** An uploaded file, on disk. */
export interface UploadedFile {
  readonly path: string;
  readonly bytes: number;
  /** The name that the client sent. Do not trust it. */
  readonly filename: string | undefined;
}

const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 64 * 1024;

/** The bytes that boundaries, part headers and fields may add to the file. */
const MAX_FORM_BYTES = 2 ** 20;

/** Options of {@link readMultipart}. */
export interface MultipartOptions {
  /** The name of the part with the file. @default "file" */
  readonly field?: string | undefined;
  /** The maximum size of the file. @default the limit of the folder */
  readonly maxBytes?: number | undefined;
}

/** Parses `multipart/form-data` while it arrives. The file is streamed to disk and never buffered in memory. */
export async function readMultipart(
  request: Request,
  incoming: IncomingFolder,
  { field = "file", maxBytes = incoming.maxFileBytes }: MultipartOptions = {},
): Promise<MultipartForm> {
  const length = Number(request.headers.get("content-length"));
  if (length > maxBytes + MAX_FORM_BYTES) throw createFileTooLargeProblem(field, maxBytes);
  const reader = new FormReader(incoming, field, maxBytes);
  try {
    return await reader.read(request);
  } catch (error) {
    await reader.remove();
    throw error;
  }
}

class FormReader {
  readonly #incoming: IncomingFolder;
  readonly #field: string;
  readonly #maxBytes: number;
  /** Aborts the reading; the reason is the error to throw. */
  readonly #abortController = new AbortController();
  readonly #fields = new Map<string, string>();
  #path: string | undefined;
  #writing: Promise<UploadedFile> | undefined;
  #isDone = false;

  constructor(incoming: IncomingFolder, field: string, maxBytes: number) {
    this.#incoming = incoming;
    this.#field = field;
    this.#maxBytes = maxBytes;
  }

  async read(request: Request): Promise<MultipartForm> {
    const parser = this.#createParser(request.headers.get("content-type") ?? "");
    const { signal } = this.#abortController;
    const onAbort = () => this.#fail(createFormProblem("The client disconnected"));
    request.signal.addEventListener("abort", onAbort, { once: true });
    try {
      await pipeline(this.#readChunks(request, parser), parser, { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : createFormProblem(getErrorMessage(error));
    } finally {
      this.#isDone = true;
      request.signal.removeEventListener("abort", onAbort);
    }
    const file = await this.#writing;
    signal.throwIfAborted();
    return { fields: this.#fields, file, [Symbol.asyncDispose]: () => this.remove() };
  }

  async remove(): Promise<void> {
    await this.#writing?.catch(() => undefined); // read() has thrown it or its cause
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }

  async *#readChunks(request: Request, parser: BusboyInstance): AsyncGenerator<Uint8Array> {
    const reader = request.body?.getReader();
    const cancel = () => void reader?.cancel().catch(() => undefined); // the request is already rejected
    this.#abortController.signal.addEventListener("abort", cancel, { once: true });
    for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
      yield read.value;
    }
    void this.#failIfStuck(parser);
  }

  /** Rejects a form that ends inside a part's header: the parser would wait forever for the header's end. */
  async #failIfStuck(parser: BusboyInstance): Promise<void> {
    while (!this.#isDone && parser.writableLength > 0) await nextTurn();
    await this.#writing?.catch(() => undefined); // read() throws it
    for (let turn = 0; turn < 10 && !this.#isDone; turn++) await nextTurn();
    if (!this.#isDone) this.#fail(createFormProblem("A part's header has no end"));
  }

  #createParser(contentType: string): BusboyInstance {
    if (!/^multipart\/form-data\b/i.test(contentType)) throw createContentTypeProblem(contentType);
    const parser = createBusboy(contentType, this.#maxBytes);
    parser.on("file", (name, stream, filename) => {
      this.#writing ??= this.#writeFile(name, stream, filename);
      this.#writing.catch((error: unknown) => this.#fail(error));
    });
    parser.on("field", (name, value, _nameCut, valueCut) => {
      if (valueCut) this.#fail(createFormProblem(`The field '${name}' is too long`));
      else if (name === this.#field) this.#fail(invalidType(name, "a file", value));
      else this.#fields.set(name ?? "", value);
    });
    for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) {
      parser.on(limit, () => this.#fail(createFormProblem("It has too many parts")));
    }
    return parser;
  }

  async #writeFile(name: string, stream: Readable, filename?: string): Promise<UploadedFile> {
    stream.on("limit", () => this.#fail(createFileTooLargeProblem(name, this.#maxBytes)));
    if (name !== this.#field) {
      stream.on("error", () => undefined).resume(); // the whole form is rejected
      throw unknownParameter(name);
    }
    const path = this.#incoming.createPath();
    this.#path = path;
    const target = createWriteStream(path, { flags: "wx", mode: 0o600 });
    const { signal } = this.#abortController;
    await explainStorage(dirname(path), () => pipeline(stream, target, { signal }));
    return { path, bytes: target.bytesWritten, filename };
  }

  #fail(reason: unknown): void {
    this.#abortController.abort(reason);
  }
}

function createBusboy(contentType: string, fileSize: number): BusboyInstance {
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
    throw createFormProblem(getErrorMessage(error));
  }
}

function createContentTypeProblem(contentType: string): ApiProblem {
  const message = `Invalid Content-Type header (${contentType}), expected multipart/form-data.`;
  return new ApiProblem(400, message);
}

function createFormProblem(problem: string): ApiProblem {
  return new ApiProblem(400, `The multipart form could not be read: ${problem}.`);
}

function createFileTooLargeProblem(param: string, maxBytes: number): ApiProblem {
  const message = `The file is too large: the maximum is ${maxBytes} bytes.`;
  return new ApiProblem(413, message, { param });
}
