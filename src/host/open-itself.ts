import { constants, openSync, type PathLike } from "node:fs";

/** Opens a file to read: not through a link in its place, nor waiting for a pipe's other end. */
export function openItself(path: PathLike): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
