import type { WireContainerOptions } from "../wire.ts";

/** The part of the official `openai` client that is called here, so that it and any like it fit. */
export interface OpenAIClient {
  readonly responses: {
    create(body: object, options?: CallOptions): PromiseLike<unknown>;
    /** Only compaction needs it. */
    compact?(body: object, options?: CallOptions): PromiseLike<unknown>;
    /** Only compaction needs it. */
    readonly inputTokens?: {
      count(body: object, options?: CallOptions): PromiseLike<unknown>;
    };
  };
  readonly containers: {
    create(body: NewContainer, options?: CallOptions): PromiseLike<unknown>;
    retrieve(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    delete(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    readonly files: ContainerFilesClient;
  };
  readonly files: {
    create(body: NewFile, options?: CallOptions): PromiseLike<unknown>;
    content(fileId: string, options?: CallOptions): PromiseLike<BinaryAnswer>;
  };
}

/** The part of a client that deals with the files in containers. */
export interface ContainerFilesClient {
  create(containerId: string, body: { file: File }, options?: CallOptions): PromiseLike<unknown>;
  /** One page, which has `data` and `has_more`. */
  list(containerId: string, query: PageQuery, options?: CallOptions): PromiseLike<unknown>;
  delete(
    fileId: string,
    params: { container_id: string },
    options?: CallOptions,
  ): PromiseLike<unknown>;
  readonly content: {
    retrieve(
      fileId: string,
      params: { container_id: string },
      options?: CallOptions,
    ): PromiseLike<BinaryAnswer>;
  };
}

/** How one call is made; `timeout` is in milliseconds. */
export interface CallOptions {
  maxRetries?: number;
  signal?: AbortSignal | undefined;
  timeout?: number;
}

/** The bytes of a file; a `Response` fits. They are there once; who does not read them cancels `body`. */
export interface BinaryAnswer {
  /** The bytes as they come, however many. */
  readonly body?: ReadableStream<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A container that is to be made. */
export interface NewContainer extends WireContainerOptions {
  name: string;
  /** How long it lives after it was last used. */
  expires_after?: { anchor: "last_active_at"; minutes: number };
}

/** Which page of a list is asked for. */
export interface PageQuery {
  limit?: number;
  order?: "asc" | "desc";
  /** The id that the page begins behind. */
  after?: string;
}

/** What a file is kept for. */
export type FilePurpose = "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";

/** A file on its way to the provider. */
export interface NewFile {
  file: File;
  purpose: FilePurpose;
  expires_after?: { anchor: "created_at"; seconds: number };
}
