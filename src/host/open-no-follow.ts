import { constants, openSync, type PathLike } from "node:fs";

/**
 * Opens a file for reading. Does not follow a symbolic link and does not wait for the other end of
 * a pipe.
 */
export function openNoFollow(path: PathLike): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
