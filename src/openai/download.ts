import { orAborted } from "../base/abort.ts";
import type { BinaryAnswer, CallOptions, OpenAIClient } from "./client.ts";
import { pathPart } from "./path-part.ts";
import { requestErrorFrom } from "./request-error.ts";
import { secretsOf } from "./secrets.ts";

/** How a file is fetched. */
export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default the client's own */
  readonly timeoutMs?: number | undefined;
}

/** The bytes of a file in a container. */
export async function downloadContainerFile(
  client: OpenAIClient,
  containerId: string,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  const container = pathPart(containerId, "containerId");
  const file = pathPart(fileId, "fileId");
  const request = `GET /containers/${container}/files/${file}/content`;
  const { content } = client.containers.files;
  return await download(client, { ...options, request }, (call) =>
    content.retrieve(fileId, { container_id: containerId }, call),
  );
}

/** The bytes of a file that was uploaded to the provider, or made by it and kept. */
export async function downloadStoredFile(
  client: OpenAIClient,
  fileId: string,
  options: DownloadOptions = {},
): Promise<Uint8Array> {
  const request = `GET /files/${pathPart(fileId, "fileId")}/content`;
  return await download(client, { ...options, request }, (call) =>
    client.files.content(fileId, call),
  );
}

async function download(
  client: OpenAIClient,
  { signal, timeoutMs, request }: DownloadOptions & { readonly request: string },
  retrieve: (call: CallOptions) => PromiseLike<BinaryAnswer>,
): Promise<Uint8Array> {
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  try {
    const answer = await retrieve({ maxRetries: 0, signal, ...timeout });
    return new Uint8Array(await orAborted(answer.arrayBuffer(), signal));
  } catch (thrown) {
    throw requestErrorFrom(thrown, { request, secrets: secretsOf(client), signal, timeoutMs });
  }
}
