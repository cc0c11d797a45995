import type {
  EgressFile,
  EgressReport,
  EgressRequest,
} from "../../adapter/egress/egress-report.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import { RequestHash } from "../request-hash.ts";
import { type HttpRequest, isForm } from "./transport.ts";

/** The key under which the options of a call have a note for the report. Clients ignore it. */
export const egressNote: unique symbol = Symbol("egressNote");

/** Facts about a request that its body does not show. */
export interface EgressNote {
  /** Whether the provider keeps the request itself. @default depends on the path */
  readonly isStored?: boolean | undefined;
  /** Whether the request has the conversation's items, with the tool outputs that are new. @default false */
  readonly hasHistory?: boolean | undefined;
  /** Containers in which the request runs code. @default none */
  readonly containerIds?: readonly string[] | undefined;
  /** The size of the body or of the uploaded file, if the client does not show it. @default measured */
  readonly bytes?: number | undefined;
  /** Computes the SHA-256 of the body or of the uploaded file, when the report is read. @default computed at once */
  readonly digest?: (() => string) | undefined;
  /** Lists the uploaded files, when the report is read. @default none */
  readonly files?: (() => readonly EgressFile[]) | undefined;
}

/** The part of a request that the report has. */
export interface LoggedCall {
  readonly method: HttpRequest["method"];
  /** Relative to the base URL, without a query. */
  readonly path: string;
  readonly body?: HttpRequest["body"];
}

/**
 * The requests that an evaluation has sent. Hashes that would cost time are computed when the report is read. The
 * work for a request does not depend on earlier requests.
 */
export class EgressLog {
  readonly #requests: LoggedRequest[] = [];
  /** Containers and files that the provider has deleted. */
  readonly #released = new Set<string>();
  readonly #sentOutputs = new Set<string>();
  #newOutputs: string[] = [];
  /** The last request with the conversation. */
  #lastTurn: LoggedRequest | null = null;
  #isClosed = false;

  /** Adds the ids of tool calls whose outputs the next request with the conversation has. */
  addToolOutputs(callIds: readonly string[]): void {
    for (const id of callIds) {
      if (this.#sentOutputs.has(id)) continue;
      this.#sentOutputs.add(id);
      this.#newOutputs.push(id);
    }
  }

  /** Records a request that is sent now; `null` after the evaluation has ended. */
  begin(call: LoggedCall, note: EgressNote = {}): LoggedRequest | null {
    if (this.#isClosed) return null;
    const { hasHistory = false } = note;
    const hasNew = hasHistory && this.#newOutputs.length > 0;
    const request = new LoggedRequest(call, note, hasNew ? this.#newOutputs : NO_OUTPUTS);
    this.#requests.push(request);
    if (hasNew) this.#newOutputs = [];
    if (hasHistory && call.path === "/responses") this.#lastTurn = request;
    return request;
  }

  /** Called when a request was answered. `value` is the body of the answer, if it was read. */
  complete(request: LoggedRequest | null, value?: unknown): void {
    if (request && !this.#isClosed) request.complete(value, this.#released);
  }

  /** Called when a request failed. A request that the provider has rejected is not stored. */
  fail(request: LoggedRequest | null, error: unknown): void {
    if (request && !this.#isClosed) request.fail(error, this.#released);
  }

  /** Called when code of the last turn has run in containers: they have what the turn sent. */
  onContainersUsed(ids: Iterable<string>): void {
    for (const id of ids) this.#lastTurn?.addContainer(id);
  }

  /** Ends the log, and returns a function that creates the report. */
  close(): () => EgressReport {
    this.#isClosed = true;
    return () => {
      const requests = this.#requests.map((request) => request.toReport(this.#released));
      const isStored = requests.some(({ stored }) => stored);
      return { requests, verdict: isStored ? "stored at the provider" : "nothing stored" };
    };
  }
}

/** A request that was sent. It is small, because an evaluation may have very many. */
export class LoggedRequest {
  readonly #method: LoggedCall["method"];
  readonly #path: string;
  readonly #note: EgressNote;
  readonly #bytes: number;
  readonly #digest: string | (() => string);
  readonly #toolOutputs: readonly string[];
  /** The containers and files that have what the request sent; `null` if there are none. */
  #holders: Set<string> | null = null;
  #isStored: boolean;

  constructor(call: LoggedCall, note: EgressNote, outputs: readonly string[]) {
    const { method, path, body = null } = call;
    this.#method = method;
    this.#path = path;
    this.#note = note;
    this.#bytes = note.bytes ?? measureBody(body);
    this.#digest = note.digest ?? hashBody(body);
    this.#toolOutputs = outputs;
    this.#isStored = method === "POST" && isStored(path, note);
    for (const id of note.containerIds ?? []) this.addContainer(id);
    if (method !== "POST" || !path.startsWith("/containers/")) return;
    const [, container] = CONTAINER_FILES.exec(path) ?? [];
    if (container !== undefined) this.addContainer(decodeURIComponent(container));
  }

  /** Adds a container that has what the request sent. */
  addContainer(id: string): void {
    this.#addHolder(`containers/${id}`);
  }

  complete(value: unknown, released: Set<string>): void {
    if (this.#method === "DELETE") this.#release(released);
    const kind = this.#method === "POST" ? CREATIONS.get(this.#path) : undefined;
    const id = kind && isPlainObject(value) ? readString(value, "id") : "";
    if (!kind || id === "") return;
    this.#isStored = false;
    this.#addHolder(`${kind}/${id}`);
  }

  fail(error: unknown, released: Set<string>): void {
    const status = typeof error === "object" && error && "status" in error ? error.status : null;
    if (typeof status !== "number" || status < 400 || status > 499) return; // it may have arrived
    if (this.#method === "DELETE" && status === 404) this.#release(released);
    this.#isStored = false;
    this.#holders = null;
  }

  toReport(released: ReadonlySet<string>): EgressRequest {
    const isHeld = [...(this.#holders ?? [])].some((holder) => !released.has(holder));
    return {
      endpoint: `${this.#method} ${this.#path}`,
      bytes: this.#bytes,
      sha256: typeof this.#digest === "string" ? this.#digest : this.#digest(),
      stored: this.#isStored || isHeld,
      files: this.#note.files?.() ?? [],
      toolOutputs: this.#toolOutputs,
    };
  }

  #addHolder(key: string): void {
    this.#holders ??= new Set();
    this.#holders.add(key);
  }

  #release(released: Set<string>): void {
    const [, kind, id] = DELETED.exec(this.#path) ?? [];
    if (kind !== undefined && id !== undefined) released.add(`${kind}/${decodeURIComponent(id)}`);
  }
}

/** Whether the provider keeps the content of a `POST`, before it is answered. */
function isStored(path: string, note: EgressNote): boolean {
  if (path === "/responses") return note.isStored ?? true;
  // Until the id of a new container or file is known, nothing can show that it was deleted.
  return CREATIONS.has(path);
}

const NO_OUTPUTS: readonly string[] = [];
const CREATIONS: ReadonlyMap<string, string> = new Map([
  ["/containers", "containers"],
  ["/files", "files"],
]);
const CONTAINER_FILES = /^\/containers\/([^/]+)\/files$/;
const DELETED = /^\/(containers|files)\/([^/]+)$/;

function measureBody(body: HttpRequest["body"]): number {
  if (body === null) return 0;
  if (isForm(body)) return findFile(body)?.size ?? 0;
  return typeof body === "string" ? new TextEncoder().encode(body).length : body.length;
}

/** Hashes a body without a known digest. Files of forms are not read again: their callers know the digest. */
function hashBody(body: HttpRequest["body"]): string {
  const hash = new RequestHash();
  if (body !== null && !isForm(body)) hash.update(body);
  return hash.digest();
}

function findFile(body: HttpRequest["body"]): File | null {
  const files = isForm(body) ? body.map(([, value]) => value) : [];
  return files.find((value) => value instanceof File) ?? null;
}
