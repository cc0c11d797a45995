import type { PythonRun, RunLimits, ShellRun } from "../sandbox/sandbox.ts";
import type { NetworkPolicy } from "../store/container-store.ts";

/** What the tools of a turn need of the server. Each is one service of it. */
export interface ToolServices {
  readonly containers: ContainerService;
  readonly fileSearch: FileSearchService;
  /** `null` where no pages were given. */
  readonly web: WebService | null;
}

/** Containers, as code and commands use them. */
export interface ContainerService {
  /** Makes one. */
  create(options: NewContainer): Promise<{ readonly id: string }>;
  /** Refuses one that is unknown or has expired, in OpenAI's words. */
  check(id: string): void;
  python(id: string, code: string, limits: RunLimits): Promise<PythonRun & Changed>;
  shell(id: string, command: string, limits: RunLimits): Promise<ShellRun & Changed>;
  /** Ends its life now, as if its time were over. */
  expire(id: string): Promise<void>;
}

export interface NewContainer {
  readonly name: string;
  readonly memoryLimit?: string | undefined;
  readonly fileIds?: readonly string[] | undefined;
  readonly networkPolicy?: NetworkPolicy | undefined;
}

/** Files that a run made or changed. */
export interface Changed {
  readonly files: readonly { readonly id: string; readonly path: string }[];
}

/** Search over vector stores. */
export interface FileSearchService {
  search(query: FileQuery): readonly FileHit[] | Promise<readonly FileHit[]>;
}

export interface FileQuery {
  readonly vectorStoreIds: readonly string[];
  readonly query: string;
  readonly maxResults: number;
  readonly filters: unknown;
  readonly scoreThreshold: number;
}

export interface FileHit {
  readonly fileId: string;
  readonly filename: string;
  readonly score: number;
  readonly text: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Search over the pages that the server was given. */
export interface WebService {
  search(
    query: string,
    domains: WebDomains,
  ): readonly { url: string; title: string; snippet: string }[];
  open(url: string): { readonly url: string; readonly title: string; readonly text: string } | null;
  find(url: string, pattern: string): readonly { readonly text: string }[];
}

export interface WebDomains {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}
