import { isPlainObject } from "../../base/freeze.ts";
import { maybeTextAt, numberAt, recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { complaintAboutContainer } from "../errors/complaint.ts";
import { OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { secretsOf } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { CallOptions, NewContainer, OpenAIClient, PageQuery } from "./client.ts";
import { downloadContainerFile, saveContainerFile } from "./download.ts";
import { pathPart } from "./http.ts";
import { checkedResult, unreadable } from "./result.ts";

/** A file in a container. */
export interface ContainerFile {
  readonly id: string;
  /** As code sees it. */
  readonly path: string;
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** `"user"` or `"assistant"`, and whatever else a provider says. */
  readonly source: string;
}

/** How one call is made. */
export interface ContainerCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** How a file in a container is fetched. */
export interface ContainerDownloadOptions extends ContainerCallOptions {
  /** A longer file is an error. */
  readonly maxBytes?: number | undefined;
}

/**
 * Containers and their files over any client: each call is one request that is not repeated, and
 * what fails or cannot be used is an `OpenAIRequestError`.
 */
export class ContainerCalls {
  readonly #client: OpenAIClient;

  constructor(client: OpenAIClient) {
    this.#client = client;
  }

  /** Makes a container. */
  async create(
    body: NewContainer,
    options: ContainerCallOptions = {},
  ): Promise<{ readonly id: string }> {
    const context = this.#context("POST /containers", options, secretsIn(body));
    const made = await ask(context, (call) => this.#client.containers.create(body, call));
    const id = textAt(checkedResult(made, context), "id");
    if (id === "") throw unreadable("a container without an id", { body: made }, context);
    return { id };
  }

  /** What the provider says of a container: `"running"`, `"expired"` or another word. */
  async status(containerId: string, options: ContainerCallOptions = {}): Promise<string> {
    const context = this.#context(`GET ${containerPath(containerId)}`, options);
    const { containers } = this.#client;
    const container = await ask(context, (call) => containers.retrieve(containerId, call));
    const status = textAt(checkedResult(container, context), "status");
    if (status !== "") return status;
    throw unreadable("a container without a status", { body: container }, context);
  }

  /** Deletes a container; one that is gone already is fine. */
  async remove(containerId: string, options: ContainerCallOptions = {}): Promise<void> {
    const context = this.#context(`DELETE ${containerPath(containerId)}`, options);
    const { containers } = this.#client;
    try {
      checkDeleted(await ask(context, (call) => containers.delete(containerId, call)), context);
    } catch (error) {
      if (!isMissing(error) && !isLost(error)) throw error;
    }
  }

  /** Puts a file into a container, read as it is sent. */
  async upload(
    containerId: string,
    file: File,
    options: ContainerCallOptions = {},
  ): Promise<ContainerFile> {
    const context = this.#context(`POST ${containerPath(containerId)}/files`, options);
    const { files } = this.#client.containers;
    const given = await ask(context, (call) => files.create(containerId, { file }, call));
    const uploaded = fileIn(checkedResult(given, context), context);
    if (uploaded.bytes === file.size) return uploaded;
    const problem = `a file of ${uploaded.bytes} bytes where ${file.size} were sent`;
    throw unreadable(problem, { body: given }, context);
  }

  /** All files of a container, page by page. */
  async *list(
    containerId: string,
    options: ContainerCallOptions & Pick<PageQuery, "order"> = {},
  ): AsyncGenerator<ContainerFile> {
    const context = this.#context(`GET ${containerPath(containerId)}/files`, options);
    const { files } = this.#client.containers;
    const { order } = options;
    const cursors = new Set<string>();
    let query: PageQuery = { limit: PAGE, ...(order && { order }) };
    while (true) {
      const given = await ask(context, (call) => files.list(containerId, query, call));
      const page = pageIn(given, context);
      yield* page.files;
      if (!page.hasMore) return;
      const after = page.files.at(-1)?.id ?? "";
      if (after === "" || cursors.has(after)) {
        throw unreadable("a page of a list that does not move on", { body: page.body }, context);
      }
      cursors.add(after);
      query = { ...query, after };
    }
  }

  /** Deletes a file; one that is gone already is fine, unless its container is. */
  async removeFile(
    containerId: string,
    fileId: string,
    options: ContainerCallOptions = {},
  ): Promise<void> {
    const path = `${containerPath(containerId)}/files/${pathPart(fileId, "fileId")}`;
    const context = this.#context(`DELETE ${path}`, options);
    const { files } = this.#client.containers;
    const where = { container_id: containerId };
    try {
      checkDeleted(await ask(context, (call) => files.delete(fileId, where, call)), context);
    } catch (error) {
      if (!isMissing(error) || isContainerGone(error)) throw error;
    }
  }

  /** The bytes of a file. */
  async download(
    containerId: string,
    fileId: string,
    options: ContainerDownloadOptions = {},
  ): Promise<Uint8Array> {
    return await downloadContainerFile(this.#client, containerId, fileId, options);
  }

  /** Writes a file to a new one of this machine as it comes, and gives its length. */
  async downloadTo(
    containerId: string,
    fileId: string,
    path: string,
    options: ContainerDownloadOptions = {},
  ): Promise<number> {
    return await saveContainerFile(this.#client, containerId, fileId, path, options);
  }

  #context(
    request: string,
    { signal }: ContainerCallOptions,
    secrets: readonly string[] = [],
  ): RequestContext {
    return { request, secrets: [...secretsOf(this.#client), ...secrets], signal };
  }
}

/**
 * Whether an error says that a container itself is dead: expired, deleted, not the one that was
 * expected, or without a process that would run its code. That something is not found is no proof.
 */
export function isContainerGone(error: unknown): boolean {
  const ours = isOfficial(error) ? requestErrorFrom(error, { secrets: [] }) : error;
  return isLost(ours) || hasDeadKernel(ours);
}

const PAGE = 100;

function containerPath(containerId: string): string {
  return `/containers/${pathPart(containerId, "containerId")}`;
}

async function ask(
  context: RequestContext,
  call: (options: CallOptions) => PromiseLike<unknown>,
): Promise<unknown> {
  try {
    return await call({ maxRetries: 0, signal: context.signal });
  } catch (thrown) {
    throw requestErrorFrom(thrown, context);
  }
}

/** What a container's code may use to sign in somewhere. */
function secretsIn(body: NewContainer): readonly string[] {
  const policy = recordAt({ ...body }, "network_policy");
  return recordsAt(policy, "domain_secrets").map((secret) => textAt(secret, "value"));
}

function checkDeleted(given: unknown, context: RequestContext): void {
  if (given === undefined || given === null) return; // some servers say nothing
  if (checkedResult(given, context)["deleted"] !== false) return;
  throw unreadable("what says that it was not deleted", { body: given }, context);
}

interface Page {
  readonly files: readonly ContainerFile[];
  readonly hasMore: boolean;
  readonly body: WireItem;
}

function pageIn(given: unknown, context: RequestContext): Page {
  const body = checkedResult(bodyOfPage(given), context);
  const { data, has_more: hasMore } = body;
  if (!Array.isArray(data)) throw unreadable("a list without data", { body }, context);
  const files = data.map((item: unknown) => fileIn(isPlainObject(item) ? item : {}, context));
  return { files, hasMore: hasMore === true, body };
}

/** The official client takes whatever it was sent for an empty page, and keeps it as `body`. */
function bodyOfPage(given: unknown): unknown {
  if (isPlainObject(given) || typeof given !== "object" || given === null) return given;
  if ("body" in given) return given.body;
  const hasMore = "has_more" in given && given.has_more;
  return "data" in given ? { data: given.data, has_more: hasMore } : given;
}

function fileIn(item: WireItem, context: RequestContext): ContainerFile {
  const [id, path] = [textAt(item, "id"), textAt(item, "path")];
  const bytes = numberAt(item, "bytes");
  if (id === "" || path === "" || bytes === null) {
    throw unreadable("a file without an id, a path or a length", { body: item }, context);
  }
  const createdAt = numberAt(item, "created_at") ?? 0;
  return { id, path, bytes, createdAt, source: textAt(item, "source") };
}

/** What the official client throws for an answer, or for what a stream told it. */
function isOfficial(error: unknown): boolean {
  return error instanceof Error && "status" in error && "headers" in error;
}

/** What the provider said, if it spoke as OpenAI does. */
function saidIn({ body }: OpenAIRequestError): string | null {
  return isPlainObject(body) ? maybeTextAt(recordAt(body, "error"), "message") : null;
}

/** Whether what was asked for is not there, as the API says it and not for a wrong address. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError) || error.status !== 404) return false;
  const said = saidIn(error);
  return said !== null && !/^invalid url/i.test(said);
}

function isLost(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError)) return false;
  const { status, code } = error;
  return complaintAboutContainer({ status, code, message: saidIn(error) ?? error.message });
}

/** It says that it runs, and refuses all code from now on. */
function hasDeadKernel(error: unknown): boolean {
  if (!(error instanceof OpenAIRequestError)) return false;
  const { status, param, code } = error;
  const isRefusal = (status === 400 || status === null) && param === null && code === null;
  const said = saidIn(error) ?? error.message;
  return isRefusal && /(?:^|: )There was an issue with your request\b/.test(said);
}
