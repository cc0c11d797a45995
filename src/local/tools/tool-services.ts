import type { InputFile } from "../input-files.ts";
import type { PythonRun, RunLimits, ShellRun } from "../sandbox/sandbox.ts";
import type { NetworkPolicy } from "../store/network-policy.ts";

/** The parts of the server that tools use. */
export interface ToolServices {
  readonly containers: ContainerService;
  readonly vectorStores: VectorStoreService;
  /** `null` if the provider has no pages. */
  readonly web: WebService | null;
}

/** Containers in which code and commands run. */
export interface ContainerService {
  /** Creates a container. */
  create(options: NewContainer): Promise<{ readonly id: string }>;
  /** Throws OpenAI's error if the container does not exist or has expired. */
  check(id: string): void;
  /** Returns when a container was last used and how long it lives from then. Extends its life. */
  retrieve(id: string): ContainerLife;
  /** Copies files of the input into a container, each one once. */
  addInputs(id: string, files: readonly InputFile[]): Promise<void>;
  /** Runs Python in a container. */
  python(id: string, code: string, limits: RunLimits): Promise<PythonRun & ChangedFiles>;
  /** Runs a shell command in a container. */
  shell(id: string, command: string, limits: RunLimits): Promise<ShellRun & ChangedFiles>;
  /** Expires a container now. */
  expire(id: string): Promise<void>;
}

/** How long a container lives. */
export interface ContainerLife {
  /** Seconds since 1970. */
  readonly last_active_at: number;
  readonly expires_after: { readonly minutes: number };
}

/** Options for creating a container. */
export interface NewContainer {
  readonly name: string;
  readonly memoryLimit?: string | undefined;
  readonly fileIds?: readonly string[] | undefined;
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** The files that a run created or changed. */
export interface ChangedFiles {
  readonly files: readonly { readonly id: string; readonly path: string }[];
}

/** Searches vector stores. */
export interface VectorStoreService {
  search(query: FileQuery): readonly FileHit[] | Promise<readonly FileHit[]>;
}

/** A query to vector stores. */
export interface FileQuery {
  readonly vectorStoreIds: readonly string[];
  readonly query: string;
  readonly maxResults: number;
  readonly filters: unknown;
  readonly scoreThreshold: number;
}

/** A passage of a file that matches a query. */
export interface FileHit {
  readonly fileId: string;
  readonly filename: string;
  readonly score: number;
  readonly text: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Searches the provider's folder of pages. */
export interface WebService {
  search(
    query: string,
    domains: WebDomains,
  ): readonly { url: string; title: string; snippet: string }[];
  open(url: string): { readonly url: string; readonly title: string; readonly text: string } | null;
  find(url: string, pattern: string): readonly { readonly text: string }[];
}

/** The domains that a search is limited to. */
export interface WebDomains {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}
