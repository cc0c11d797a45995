import { orAborted } from "../../base/clock.ts";
import { hostError } from "../../host/host-error.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { secretsOf } from "../secrets.ts";
import type { BinaryAnswer, CallOptions, OpenAIClient } from "./client.ts";
import { pathPart } from "./http.ts";
import { unreadable } from "./result.ts";
import { chunksIn, readBytes } from "./transport.ts";

/** How a file is fetched. */
export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default the client's own */
  readonly timeoutMs?: number | undefined;
  /** A longer file is an error. @default what the client holds; without end where it is not held */
  readonly maxBytes?: number | undefined;
}

/** The bytes of a file in a container. */
export async function downloadContainerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  return await download(containerFile(client, containerId, fileId, options));
}

/** The bytes of a file that was uploaded to the provider, or made by it and kept. */
export async function downloadStoredFile(
  client: OpenAIClient,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  const request = `GET /files/${pathPart(fileId, "fileId")}/content`;
  const retrieve = (call: CallOptions) => client.files.content(fileId, call);
  return await download({ client, request, retrieve, options });
}

/**
 * Writes a file in a container to a new file of this machine as it comes, and gives its length. If
 * that fails there is no such file.
 */
export async function saveContainerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  path: string,
  options: DownloadOptions = {},
): Promise<number> {
  const wanted = containerFile(client, containerId, fileId, options);
  options.signal?.throwIfAborted();
  const { open, rm } = await import("node:fs/promises");
  const onDisk = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw hostError(path, error);
    }
  };
  const file = await onDisk(open(path, "wx"));
  try {
    let length = 0;
    for await (const chunk of chunksOf(wanted)) {
      await onDisk(file.writeFile(chunk));
      length += chunk.length;
    }
    await onDisk(file.close());
    return length;
  } catch (error) {
    await file.close().catch(() => {}); // what went wrong before is what matters
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

/** A file that is to be fetched. */
interface Wanted {
  readonly client: OpenAIClient;
  readonly request: string;
  readonly options: DownloadOptions;
  retrieve(call: CallOptions): PromiseLike<BinaryAnswer>;
}

function containerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  options: DownloadOptions,
): Wanted {
  const container = pathPart(containerId, "containerId");
  const file = pathPart(fileId, "fileId");
  const request = `GET /containers/${container}/files/${file}/content`;
  const { content } = client.containers.files;
  const retrieve = (call: CallOptions) =>
    content.retrieve(fileId, { container_id: containerId }, call);
  return { client, request, retrieve, options };
}

async function download(wanted: Wanted): Promise<Uint8Array> {
  const { maxBytes, signal } = wanted.options;
  if (maxBytes !== undefined) {
    const { bytes } = await readBytes(chunksOf(wanted), maxBytes);
    return bytes;
  }
  try {
    const answer = await asked(wanted);
    return new Uint8Array(await orAborted(answer.arrayBuffer(), signal));
  } catch (thrown) {
    throw requestErrorFrom(thrown, contextOf(wanted));
  }
}

async function* chunksOf(wanted: Wanted): AsyncGenerator<Uint8Array> {
  const { signal, maxBytes = Number.POSITIVE_INFINITY } = wanted.options;
  let length = 0;
  try {
    const answer = await asked(wanted);
    const chunks = answer.body ? chunksIn(answer.body, signal) : wholeOf(answer, signal);
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > maxBytes) throw tooLong(maxBytes, contextOf(wanted));
      yield chunk;
    }
  } catch (thrown) {
    throw requestErrorFrom(thrown, contextOf(wanted));
  }
}

/** A client may give no stream; an empty file has none either. */
async function* wholeOf(
  answer: BinaryAnswer,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await orAborted(answer.arrayBuffer(), signal));
}

async function asked({ retrieve, options }: Wanted): Promise<BinaryAnswer> {
  const { signal, timeoutMs } = options;
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  return await retrieve({ maxRetries: 0, signal, ...timeout });
}

function contextOf({ client, request, options }: Wanted): RequestContext {
  const { signal, timeoutMs } = options;
  return { request, secrets: secretsOf(client), signal, timeoutMs };
}

function tooLong(maxBytes: number, context: RequestContext): Error {
  const remedy = "raise maxBytes if that is right";
  return unreadable(`more than ${maxBytes} bytes`, { body: null, remedy }, context);
}
