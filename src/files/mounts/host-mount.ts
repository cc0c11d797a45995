/** A folder or file of this machine that is offered to a model. */
export interface HostMount {
  readonly hostPath: string;
  /** Where the model finds it. @default the last part of `hostPath` */
  readonly mountPath?: string | undefined;
  /** Only what matches one of these. @default everything */
  readonly includeGlob?: readonly string[] | undefined;
  /** Never what matches one of these. */
  readonly excludeGlob?: readonly string[] | undefined;
  /** Exactly as many pass, one more is an error. @default no limit */
  readonly maxBytes?: number | undefined;
  /** Never out of the allowed roots. @default false */
  readonly followSymlinks?: boolean | undefined;
}
