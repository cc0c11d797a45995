import type { WireContainerOptions } from "../wire.ts";

/**
 * The part of the official `openai` client that this package calls. Any compatible client works.
 */
export interface OpenAIClient {
  /** The Responses API. */
  readonly responses: {
    /** `POST /responses`. */
    create(body: object, options?: CallOptions): PromiseLike<unknown>;
    /**
     * Present in clients whose `create` returns an async iterable of events for `stream: true`. It is
     * not called. Without it, the client's responses are not streamed.
     */
    readonly stream?: unknown;
    /**
     * `GET /responses/{id}`. With `stream: true` in `query`, it returns an async iterable of events.
     * Required only for `delivery: "background"`.
     */
    retrieve?(responseId: string, query: object, options?: CallOptions): PromiseLike<unknown>;
    /** `POST /responses/{id}/cancel`. Required only for `delivery: "background"`. */
    cancel?(responseId: string, options?: CallOptions): PromiseLike<unknown>;
    /** `POST /responses/compact`. Required only for compaction. */
    compact?(body: object, options?: CallOptions): PromiseLike<unknown>;
    /** Token counting. Required only for compaction. */
    readonly inputTokens?: {
      /** `POST /responses/input_tokens`. */
      count(body: object, options?: CallOptions): PromiseLike<unknown>;
    };
  };
  /** The containers that run code. */
  readonly containers: {
    /** `POST /containers`. */
    create(body: NewContainer, options?: CallOptions): PromiseLike<unknown>;
    /** `GET /containers/{id}`. */
    retrieve(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    /** `DELETE /containers/{id}`. */
    delete(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    /** The files in containers. */
    readonly files: ContainerFilesClient;
  };
  /** The files uploaded to the provider. */
  readonly files: {
    /** `POST /files`. */
    create(body: NewFile, options?: CallOptions): PromiseLike<unknown>;
    /** `GET /files/{id}/content`. */
    content(fileId: string, options?: CallOptions): PromiseLike<BinaryAnswer>;
    /** `DELETE /files/{id}`. Without it, workspaces do not store their archives for later containers. */
    delete?(fileId: string, options?: CallOptions): PromiseLike<unknown>;
  };
}

/** The part of a client that manages the files in containers. */
export interface ContainerFilesClient {
  /** Uploads a file, or copies a stored one: `POST /containers/{id}/files`. */
  create(
    containerId: string,
    body: { file: File } | { file_id: string },
    options?: CallOptions,
  ): PromiseLike<unknown>;
  /** Returns one page, with `data` and `has_more`: `GET /containers/{id}/files`. */
  list(containerId: string, query: PageQuery, options?: CallOptions): PromiseLike<unknown>;
  /** `DELETE /containers/{id}/files/{file}`. */
  delete(
    fileId: string,
    params: { container_id: string },
    options?: CallOptions,
  ): PromiseLike<unknown>;
  /** The content of files. */
  readonly content: {
    /** `GET /containers/{id}/files/{file}/content`. */
    retrieve(
      fileId: string,
      params: { container_id: string },
      options?: CallOptions,
    ): PromiseLike<BinaryAnswer>;
  };
}

/** Options of one call, in the official client's form. */
export interface CallOptions {
  /** This package passes 0 and retries throttled requests itself. */
  maxRetries?: number;
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /** In milliseconds. */
  timeout?: number;
  /** Additional headers, with names in lower case. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * A file's bytes, such as a `Response`. They can be read once. If you do not read them, cancel
 * `body`.
 */
export interface BinaryAnswer {
  /** The bytes as they arrive, without a size limit. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** Reads all bytes into memory. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The body of a request that creates a container. */
export interface NewContainer extends WireContainerOptions {
  /** The container's name. It does not have to be unique. */
  name: string;
  /** When the container expires. */
  expires_after?: {
    /** The time runs from the container's last use. */
    anchor: "last_active_at";
    /** The idle minutes after which the container expires. */
    minutes: number;
  };
}

/** Selects a page of a list. */
export interface PageQuery {
  /** The page's size. */
  limit?: number;
  /** Sorts by creation time. */
  order?: "asc" | "desc";
  /** The id of the last entry of the previous page. */
  after?: string;
}

/** The purpose of an uploaded file. */
export type FilePurpose = "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";

/** The body of a request that uploads a file. */
export interface NewFile {
  /** The file's name and bytes. */
  file: File;
  /** The file's purpose at the provider. */
  purpose: FilePurpose;
  /** When the provider deletes the file. */
  expires_after?: {
    /** The time runs from the upload. */
    anchor: "created_at";
    /** The lifetime in seconds. */
    seconds: number;
  };
}
