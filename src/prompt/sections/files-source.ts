import type { Session } from "../../session/session.ts";

/** Has the files of a session's workspaces, for machines that do not have them. */
export interface FilesSource {
  /**
   * Called before a workspace uses its folder. `persistDir` is the absolute path of the folder, or `null` if the
   * workspace has none. May throw to refuse the folder.
   */
  useFolder(section: string, persistDir: string | null): void;
  /** Called before the files of a workspace are restored. Adds to its folder what the session knows and it lacks. */
  fillFolder(section: string, persistDir: string): Promise<void>;
  /** Whether other machines have the bytes of a digest, so that this one may remove them. */
  isStored(digest: string): boolean;
}

const sources = new WeakMap<Session, FilesSource>();

/** Sets where the files of a session's workspaces come from if they are not on this machine. */
export function setFilesSource(session: Session, source: FilesSource): void {
  sources.set(session, source);
}

/** Returns what has the files of a session's workspaces; `null` if only this machine does. */
export function findFilesSource(session: Session): FilesSource | null {
  return sources.get(session) ?? null;
}
