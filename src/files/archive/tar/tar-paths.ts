import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { listAncestors, normalizePath, ROOT } from "../../path.ts";

/** Collects the paths of one archive. Each file path must be unique, and no path may be both a file and a folder. */
export class TarPaths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>([ROOT]);

  /** Adds a file and returns its normalized path. */
  addFile(name: string): string {
    const path = toInnerPath(name);
    if (this.#files.has(path) || this.#folders.has(path)) throw createDuplicateError(name);
    this.#addFolders(name, listAncestors(path));
    this.#files.add(path);
    return path;
  }

  /** Adds a folder and its ancestors, and returns its path. The same folder may be added repeatedly. */
  addFolder(name: string): string {
    const path = toInnerPath(name.endsWith("/") ? name.slice(0, -1) : name);
    this.#addFolders(name, [path, ...listAncestors(path)]);
    return path;
  }

  #addFolders(name: string, paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#files.has(path)) throw createDuplicateError(name);
      this.#folders.add(path);
    }
  }
}

/** Matches paths that leave the folder, also on systems where a backslash separates folders. */
const ESCAPES_FOLDER = /^[/\\]|^[a-z]:\\|(?:^|[/\\])\.\.(?:[/\\]|$)/i;
const CONTROL_CHARACTER = /\p{Cc}/u;

function toInnerPath(name: string): string {
  if (ESCAPES_FOLDER.test(name)) {
    const problem = `The archive's entry ${JSON.stringify(name)} leads out of its folder.`;
    throw new WorkspaceSecurityError(`${problem} Do not use this archive.`);
  }
  if (CONTROL_CHARACTER.test(name)) {
    throw FilesystemError.invalid(name, "contains a control character. Rename it.");
  }
  return normalizePath(name);
}

function createDuplicateError(name: string): FilesystemError {
  return FilesystemError.invalid(name, "is in the archive twice. Create the archive again.");
}
