import type { PythonRun, RunLimits, ShellRun } from "../sandbox/sandbox.ts";
import type { NetworkPolicy } from "../store/container-store.ts";

/** The parts of the server that tools use. */
export interface ToolServices {
  readonly containers: ContainerService;
  readonly vectorStores: VectorStoreService;
  /** `null` if the provider has no pages. */
  readonly web: WebService | null;
}

/** Containers, in which code and commands run. */
export interface ContainerService {
  /** Creates a container. */
  create(options: NewContainer): Promise<{ readonly id: string }>;
  /** Refuses a container that is unknown or has expired, with OpenAI's error. */
  check(id: string): void;
  /** Runs Python in a container. */
  python(id: string, code: string, limits: RunLimits): Promise<PythonRun & Changed>;
  /** Runs a shell command in a container. */
  shell(id: string, command: string, limits: RunLimits): Promise<ShellRun & Changed>;
  /** Ends a container now, as if its time were over. */
  expire(id: string): Promise<void>;
}

/** What a new container is created with. */
export interface NewContainer {
  readonly name: string;
  readonly memoryLimit?: string | undefined;
  readonly fileIds?: readonly string[] | undefined;
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** The files that a run created or changed. */
export interface Changed {
  readonly files: readonly { readonly id: string; readonly path: string }[];
}

/** Search over vector stores. */
export interface VectorStoreService {
  search(query: FileQuery): readonly FileHit[] | Promise<readonly FileHit[]>;
}

/** What to search vector stores for. */
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

/** Search over the provider's folder of pages. */
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
