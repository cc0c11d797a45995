import { raceAbort } from "../../base/clock.ts";
import { loadFileSystem } from "../../host/load-file-system.ts";
import { toFilesystemError } from "../../host/to-filesystem-error.ts";
import { toRequestError } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { readSecrets } from "../secrets.ts";
import type { BinaryAnswer, CallOptions, OpenAIClient } from "./client.ts";
import { toUrlSegment } from "./http.ts";
import { createUnreadableError } from "./json-response.ts";
import { iterateStream, readBytes } from "./transport.ts";

/** Options for downloading a file. */
export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  /** The idle timeout. @default the client's timeout */
  readonly timeoutMs?: number | undefined;
  /**
   * A longer file is an error. @default the client's limit in memory; no limit when written to disk
   */
  readonly maxBytes?: number | undefined;
  /** Called with the length of each part that was written to disk. @default nothing */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** Downloads a file from a container into memory. */
export async function downloadContainerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  return await downloadFile(toFileRequest(client, containerId, fileId, options));
}

/** Downloads a file from the provider's file storage into memory. */
export async function downloadStoredFile(
  client: OpenAIClient,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  const request = `GET /files/${toUrlSegment(fileId, "fileId")}/content`;
  const retrieve = (call: CallOptions) => client.files.content(fileId, call);
  return await downloadFile({ client, request, retrieve, options });
}

/**
 * Downloads a file from a container to a new file on the host, without holding it in memory, and
 * returns its length in bytes. A failed download leaves no file.
 */
export async function saveContainerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  path: string,
  options: DownloadOptions = {},
): Promise<number> {
  const request = toFileRequest(client, containerId, fileId, options);
  options.signal?.throwIfAborted();
  const { open, rm } = loadFileSystem(path).promises;
  const wrapHostErrors = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw toFilesystemError(path, error);
    }
  };
  const file = await wrapHostErrors(open(path, "wx"));
  try {
    let length = 0;
    for await (const chunk of streamFile(request)) {
      await wrapHostErrors(file.writeFile(chunk));
      length += chunk.length;
      options.onBytes?.(chunk.length);
    }
    await wrapHostErrors(file.close());
    return length;
  } catch (error) {
    await file.close().catch(() => {}); // report the original error
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

/** A file to download. */
interface FileRequest {
  readonly client: OpenAIClient;
  readonly request: string;
  readonly options: DownloadOptions;
  retrieve(call: CallOptions): PromiseLike<BinaryAnswer>;
}

function toFileRequest(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  options: DownloadOptions,
): FileRequest {
  const container = toUrlSegment(containerId, "containerId");
  const file = toUrlSegment(fileId, "fileId");
  const request = `GET /containers/${container}/files/${file}/content`;
  const { content } = client.containers.files;
  const retrieve = (call: CallOptions) =>
    content.retrieve(fileId, { container_id: containerId }, call);
  return { client, request, retrieve, options };
}

async function downloadFile(request: FileRequest): Promise<Uint8Array> {
  const { maxBytes, signal } = request.options;
  if (maxBytes !== undefined) {
    return await readBytes(streamFile(request), maxBytes);
  }
  try {
    const answer = await sendFileRequest(request);
    return new Uint8Array(await raceAbort(answer.arrayBuffer(), signal));
  } catch (thrown) {
    throw toRequestError(thrown, toRequestContext(request));
  }
}

async function* streamFile(request: FileRequest): AsyncGenerator<Uint8Array> {
  const { signal, maxBytes = Number.POSITIVE_INFINITY } = request.options;
  let length = 0;
  try {
    const answer = await sendFileRequest(request);
    const chunks = answer.body
      ? iterateStream(answer.body, signal)
      : readWithoutStream(answer, signal);
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > maxBytes) throw createTooLongError(maxBytes, toRequestContext(request));
      yield chunk;
    }
  } catch (thrown) {
    throw toRequestError(thrown, toRequestContext(request));
  }
}

/** Reads a body without a stream. Some clients never provide one; empty files lack one too. */
async function* readWithoutStream(
  answer: BinaryAnswer,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await raceAbort(answer.arrayBuffer(), signal));
}

async function sendFileRequest({ retrieve, options }: FileRequest): Promise<BinaryAnswer> {
  const { signal, timeoutMs } = options;
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  return await retrieve({ maxRetries: 0, signal, ...timeout });
}

function toRequestContext({ client, request, options }: FileRequest): RequestContext {
  const { signal, timeoutMs } = options;
  return { request, secrets: readSecrets(client), signal, timeoutMs };
}

function createTooLongError(maxBytes: number, context: RequestContext): Error {
  const remedy = "Raise maxBytes if you expect this size.";
  return createUnreadableError(`more than ${maxBytes} bytes`, { body: null, remedy }, context);
}
