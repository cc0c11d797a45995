/** Version of the format of cassettes. */
export const FORMAT = 1;

/** The first line of a cassette. */
export interface CassetteHeader {
  readonly cassette: typeof FORMAT;
  /** Version of the package that recorded it. */
  readonly version: string;
  /** When the recording began, as an ISO date. */
  readonly recordedAt: string;
}

/** The last line of a cassette. A file without it was cut off. */
export interface CassetteEnd {
  readonly end: true;
  /** Number of exchanges. */
  readonly exchanges: number;
}

/** Content that other lines refer to by its SHA-256. Equal content is stored once. */
export type BlobLine =
  | { readonly blob: string; readonly text: string }
  | { readonly blob: string; readonly base64: string };

/** Bytes: inline if they are UTF-8 text, otherwise the SHA-256 of a blob. */
export type RecordedContent =
  | { readonly text: string }
  | { readonly blob: string; readonly bytes: number };

/** One field of a form. A file is stored as a blob. */
export type RecordedField =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly filename: string;
      readonly type: string;
      readonly blob: string;
      readonly bytes: number;
    };

/** The body of a request: parsed JSON, the fields of a form, or other content. */
export type RecordedBody =
  | { readonly json: unknown }
  | { readonly form: readonly RecordedField[] }
  | RecordedContent;

/** A request without secrets. Replayed requests are compared with it. */
export interface RecordedRequest {
  readonly method: string;
  /** The path and the query. The host is not recorded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RecordedBody | null;
}

/** An error that `fetch` threw, with its causes. */
export interface RecordedFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly cause?: RecordedFailure | undefined;
}

/**
 * How a response ended: completely, because its reader stopped, with an error of the connection, or not at all before the
 * cassette was closed.
 */
export type RecordedEnding = "complete" | "canceled" | "unread" | RecordedFailure;

/** A response without secrets. */
export interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RecordedContent | null;
  /** The milliseconds since the request, and the length in bytes, of each chunk of the body. */
  readonly chunks: readonly (readonly [ms: number, bytes: number])[];
  readonly ended: RecordedEnding;
}

/** One request and its outcome. */
export interface RecordedExchange {
  /** Number of the request, from 1, in the order in which they were sent. */
  readonly exchange: number;
  /** Milliseconds from the start of the recording to the request. */
  readonly atMs: number;
  readonly request: RecordedRequest;
  /**
   * The response, the error that `fetch` threw, `"canceled"` if the caller aborted before the response, or
   * `"unanswered"` if the cassette was closed before it.
   */
  readonly outcome:
    | { readonly response: RecordedResponse }
    | { readonly failure: RecordedFailure }
    | "canceled"
    | "unanswered";
}

/** A cassette in memory. */
export interface Recording {
  readonly header: CassetteHeader;
  /** The exchanges in the order of their requests. */
  readonly exchanges: readonly RecordedExchange[];
  /** Content by its SHA-256. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}
