/** How a file system is opened. */
export interface FilesystemOptions {
  /** Refuses every change. @default false */
  readonly readOnly?: boolean | undefined;
}
