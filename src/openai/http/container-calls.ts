import { ThrottleError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
} from "../../base/json.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import { OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { readSecrets } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { CallOptions, NewContainer, OpenAIClient, PageQuery } from "./client.ts";
import { downloadContainerFile, saveContainerFile } from "./download.ts";
import { type EgressNote, egressNote } from "./egress-log.ts";
import { toUrlSegment } from "./http.ts";
import { checkJsonObject, createUnreadableError } from "./json-response.ts";

/** A file in a container. */
export interface ContainerFile {
  readonly id: string;
  /** The absolute path inside the container. */
  readonly path: string;
  readonly bytes: number;
  /** Unix time in seconds. */
  readonly createdAt: number;
  /** `"user"`, `"assistant"`, or another value from the provider. */
  readonly source: string;
}

/** Options of one container request. */
export interface ContainerCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of an upload to a container. */
export interface ContainerUploadOptions extends ContainerCallOptions {
  /** Describes the file in the report of what was sent. @default its size */
  readonly note?: EgressNote | undefined;
}

/** Options for downloading a file from a container. */
export interface ContainerDownloadOptions extends ContainerCallOptions {
  /** A longer file is an error. */
  readonly maxBytes?: number | undefined;
  /** Called with the length of each part that arrives. @default nothing */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Manages containers and their files through any client. Each call sends its requests once, without
 * retries, and throws an `OpenAIRequestError` if one fails or its response cannot be used.
 */
export class ContainerCalls {
  readonly #client: OpenAIClient;

  constructor(client: OpenAIClient) {
    this.#client = client;
  }

  /** Creates a container. */
  async create(
    body: NewContainer,
    options: ContainerCallOptions = {},
  ): Promise<{ readonly id: string }> {
    const context = this.#createContext("POST /containers", options, collectDomainSecrets(body));
    const made = await sendCall(context, (call) => this.#client.containers.create(body, call));
    const id = readString(checkJsonObject(made, context), "id");
    if (id === "")
      throw createUnreadableError("a container without an id", { body: made }, context);
    return { id };
  }

  /** Returns the container's status at the provider, such as `"running"` or `"expired"`. */
  async getStatus(containerId: string, options: ContainerCallOptions = {}): Promise<string> {
    const context = this.#createContext(`GET ${toContainerPath(containerId)}`, options);
    const { containers } = this.#client;
    const container = await sendCall(context, (call) => containers.retrieve(containerId, call));
    const status = readString(checkJsonObject(container, context), "status");
    if (status !== "") return status;
    throw createUnreadableError("a container without a status", { body: container }, context);
  }

  /** Deletes a container. Does nothing if it no longer exists. */
  async remove(containerId: string, options: ContainerCallOptions = {}): Promise<void> {
    const context = this.#createContext(`DELETE ${toContainerPath(containerId)}`, options);
    const { containers } = this.#client;
    try {
      checkDeleted(
        await sendCall(context, (call) => containers.delete(containerId, call)),
        context,
      );
    } catch (error) {
      if (!isMissing(error) && !isContainerLost(error)) throw error;
    }
  }

  /** Uploads a file to a container. Reads the file while sending it. */
  async upload(
    containerId: string,
    file: File,
    options: ContainerUploadOptions = {},
  ): Promise<ContainerFile> {
    const { created, given, context } = await this.#createFile(containerId, { file }, options);
    if (created.bytes === file.size) return created;
    const problem = `a file of ${created.bytes} bytes where ${file.size} were sent`;
    throw createUnreadableError(problem, { body: given }, context);
  }

  /** Copies a stored file into a container. */
  async attach(
    containerId: string,
    fileId: string,
    options: ContainerCallOptions = {},
  ): Promise<ContainerFile> {
    return (await this.#createFile(containerId, { file_id: fileId }, options)).created;
  }

  /** Lists a container's files, fetching pages as needed. */
  async *list(
    containerId: string,
    options: ContainerCallOptions & Pick<PageQuery, "order"> = {},
  ): AsyncGenerator<ContainerFile> {
    const context = this.#createContext(`GET ${toContainerPath(containerId)}/files`, options);
    const { files } = this.#client.containers;
    const { order } = options;
    const cursors = new Set<string>();
    let query: PageQuery = { limit: PAGE_SIZE, ...(order && { order }) };
    while (true) {
      const given = await sendCall(context, (call) => files.list(containerId, query, call));
      const page = parsePage(given, context);
      yield* page.files;
      if (!page.hasMore) return;
      const after = page.files.at(-1)?.id ?? "";
      if (after === "" || cursors.has(after)) {
        throw createUnreadableError("the same page of a list again", { body: page.body }, context);
      }
      cursors.add(after);
      query = { ...query, after };
    }
  }

  /** Deletes a file. Does nothing if it no longer exists; throws if its container does not. */
  async removeFile(
    containerId: string,
    fileId: string,
    options: ContainerCallOptions = {},
  ): Promise<void> {
    const path = `${toContainerPath(containerId)}/files/${toUrlSegment(fileId, "fileId")}`;
    const context = this.#createContext(`DELETE ${path}`, options);
    const { files } = this.#client.containers;
    const where = { container_id: containerId };
    try {
      checkDeleted(await sendCall(context, (call) => files.delete(fileId, where, call)), context);
    } catch (error) {
      if (!isMissing(error) || isContainerGone(error)) throw error;
    }
  }

  /** Downloads a file into memory. */
  async download(
    containerId: string,
    fileId: string,
    options: ContainerDownloadOptions = {},
  ): Promise<Uint8Array> {
    return await downloadContainerFile(this.#client, containerId, fileId, options);
  }

  /** Downloads a file to a new file on the host and returns its length in bytes. */
  async downloadTo(
    containerId: string,
    fileId: string,
    path: string,
    options: ContainerDownloadOptions = {},
  ): Promise<number> {
    return await saveContainerFile(this.#client, containerId, fileId, path, options);
  }

  async #createFile(
    containerId: string,
    body: { file: File } | { file_id: string },
    options: ContainerUploadOptions,
  ) {
    const context = this.#createContext(`POST ${toContainerPath(containerId)}/files`, options);
    const { files } = this.#client.containers;
    const noted = options.note && { [egressNote]: options.note };
    const given = await sendCall(context, (call) =>
      files.create(containerId, body, { ...call, ...noted }),
    );
    const created = parseFile(checkJsonObject(given, context), context);
    return { created, given, context };
  }

  #createContext(
    request: string,
    { signal }: ContainerCallOptions,
    secrets: readonly string[] = [],
  ): RequestContext {
    return { request, secrets: [...readSecrets(this.#client), ...secrets], signal };
  }
}

/**
 * Whether an error reports that the container itself is unusable: expired, deleted, not the expected
 * one, or without a process to run code. A plain 404 is not enough, as a file may be missing.
 */
export function isContainerGone(error: unknown): boolean {
  if (error instanceof ThrottleError) return isContainerGone(error.cause);
  const ours = isOfficialClientError(error) ? toRequestError(error, { secrets: [] }) : error;
  return isContainerLost(ours) || hasDeadKernel(ours);
}

const PAGE_SIZE = 100;

function toContainerPath(containerId: string): string {
  return `/containers/${toUrlSegment(containerId, "containerId")}`;
}

async function sendCall(
  context: RequestContext,
  call: (options: CallOptions) => PromiseLike<unknown>,
): Promise<unknown> {
  try {
    return await call({ maxRetries: 0, signal: context.signal });
  } catch (thrown) {
    throw toRequestError(thrown, context);
  }
}

/** Collects the domain secrets in a container's network policy. */
function collectDomainSecrets(body: NewContainer): readonly string[] {
  const policy = readRecord({ ...body }, "network_policy");
  return readRecords(policy, "domain_secrets").map((secret) => readString(secret, "value"));
}

function checkDeleted(given: unknown, context: RequestContext): void {
  if (given === undefined || given === null) return; // some servers return no body
  if (checkJsonObject(given, context)["deleted"] !== false) return;
  throw createUnreadableError("deleted: false", { body: given }, context);
}

interface Page {
  readonly files: readonly ContainerFile[];
  readonly hasMore: boolean;
  readonly body: WireItem;
}

function parsePage(given: unknown, context: RequestContext): Page {
  const body = checkJsonObject(extractPageBody(given), context);
  const { data, has_more: hasMore } = body;
  if (!Array.isArray(data)) throw createUnreadableError("a list without data", { body }, context);
  const files = data.map((item: unknown) => parseFile(isPlainObject(item) ? item : {}, context));
  return { files, hasMore: hasMore === true, body };
}

/** The official client turns any response into a page, and stores the response as `body`. */
function extractPageBody(given: unknown): unknown {
  if (isPlainObject(given) || typeof given !== "object" || given === null) return given;
  if ("body" in given) return given.body;
  const hasMore = "has_more" in given && given.has_more;
  return "data" in given ? { data: given.data, has_more: hasMore } : given;
}

function parseFile(item: WireItem, context: RequestContext): ContainerFile {
  const [id, path] = [readString(item, "id"), readString(item, "path")];
  const bytes = readNumber(item, "bytes");
  if (id === "" || path === "" || bytes === null) {
    throw createUnreadableError(
      "a file without an id, a path or a length",
      { body: item },
      context,
    );
  }
  const createdAt = readNumber(item, "created_at") ?? 0;
  return { id, path, bytes, createdAt, source: readString(item, "source") };
}

/** Whether the official client threw the error, for a response or for an event in a stream. */
function isOfficialClientError(error: unknown): boolean {
  return error instanceof Error && "status" in error && "headers" in error;
}

/** Returns the provider's error message if the body has OpenAI's error format. */
function getProviderMessage({ body }: OpenAIRequestError): string | null {
  return isPlainObject(body) ? readStringOrNull(readRecord(body, "error"), "message") : null;
}

/** Whether the API reports that the resource does not exist. A wrong `baseURL` does not count. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError) || error.status !== 404) return false;
  const message = getProviderMessage(error);
  return message !== null && !/^invalid url/i.test(message);
}

function isContainerLost(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError)) return false;
  const { status, code } = error;
  return isContainerRejection({
    status,
    code,
    message: getProviderMessage(error) ?? error.message,
  });
}

/**
 * Whether the container's code process died: its status stays "running", but it rejects all code.
 */
function hasDeadKernel(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError)) return false;
  const { status, param, code } = error;
  const isRefusal = (status === 400 || status === null) && param === null && code === null;
  const message = getProviderMessage(error) ?? error.message;
  return isRefusal && /(?:^|: )There was an issue with your request\b/.test(message);
}
