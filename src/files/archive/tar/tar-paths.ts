import { FilesystemError, WorkspaceSecurityError } from "../../../base/filesystem-error.ts";
import { ancestorsOf, checkedPath, ROOT } from "../../path.ts";

/** The paths of one archive, each of which may stand there once, and only as one thing. */
export class TarPaths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>([ROOT]);

  /** The one spelling of a file's path. */
  addFile(name: string): string {
    const path = innerPath(name);
    if (this.#files.has(path) || this.#folders.has(path)) throw twice(name);
    this.#addFolders(name, ancestorsOf(path));
    this.#files.add(path);
    return path;
  }

  addFolder(name: string): void {
    const path = innerPath(name.endsWith("/") ? name.slice(0, -1) : name);
    this.#addFolders(name, [path, ...ancestorsOf(path)]);
  }

  #addFolders(name: string, paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#files.has(path)) throw twice(name);
      this.#folders.add(path);
    }
  }
}

/** Also what leads out only where a backslash stands between folders. */
const LEADS_OUT = /^[/\\]|^[a-z]:\\|(?:^|[/\\])\.\.(?:[/\\]|$)/i;
const CONTROL_CHARACTER = /\p{Cc}/u;

function innerPath(name: string): string {
  if (LEADS_OUT.test(name)) {
    const problem = `The archive's entry ${JSON.stringify(name)} leads out of its folder`;
    throw new WorkspaceSecurityError(`${problem}: nothing of this archive can be trusted`);
  }
  if (CONTROL_CHARACTER.test(name)) {
    throw FilesystemError.invalid(name, "holds a control character: rename it there");
  }
  return checkedPath(name);
}

function twice(name: string): FilesystemError {
  return FilesystemError.invalid(name, "is in the archive twice: make the archive again");
}
