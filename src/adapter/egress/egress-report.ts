/** The requests that an evaluation has sent to its provider, as plain data. */
export interface EgressReport {
  /** Every request, in the order in which they were sent; retries and deletions too. */
  readonly requests: readonly EgressRequest[];
  /**
   * Whether the provider still has content of the requests when the evaluation ends: stored responses, files, or
   * containers that are not deleted. It does not cover the provider's logs for abuse monitoring.
   */
  readonly verdict: "nothing stored" | "stored at the provider";
}

/** One request of an {@link EgressReport}. */
export interface EgressRequest {
  /** Method and path, such as `"POST /responses"`. On Claude `"claude-agent-sdk"`: its process sends the requests. */
  readonly endpoint: string;
  /** Size of the body in bytes, or of the file that it uploads. */
  readonly bytes: number;
  /** SHA-256 of the body, or of the file that it uploads, as lowercase hexadecimal. */
  readonly sha256: string;
  /** Whether the provider still has its content when the evaluation ends. */
  readonly stored: boolean;
  /** The files of the workspace that it uploads, alone or in an archive. */
  readonly files: readonly EgressFile[];
  /** Ids of the tool calls whose outputs it is the first to have. */
  readonly toolOutputs: readonly string[];
}

/** A file of a workspace that was uploaded. */
export interface EgressFile {
  /** `mountPath` of the mount that the file belongs to; `"."` for files outside of mounts. */
  readonly mount: string;
  /** Path below the mount; `"."` if the mount is a single file. */
  readonly path: string;
  /** SHA-256 of the file, as lowercase hexadecimal. */
  readonly sha256: string;
}
