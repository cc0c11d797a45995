/** What a mount would bring, before a byte is copied. */
export interface HostMountPreview {
  /** As it was given. */
  readonly hostPath: string;
  /** Where it is in the workspace. */
  readonly mountPath: string;
  readonly files: number;
  readonly bytes: number;
  /** The first 20 files, by their paths within the mount; of a single file, its name. */
  readonly entries: readonly string[];
  /** There are more files than `entries` tells. */
  readonly truncated: boolean;
  /** Left out though the globs let them in: key files, sockets, pipes, devices, broken links. */
  readonly withheld: readonly string[];
}
