import type { KeptFile } from "../../files/kept/kept-tree.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";

type Files = Readonly<Record<string, Pick<KeptFile, "bytes">>>;

/** Counts the bytes of a run's workspaces. A change costs as much as it has files. */
export class WorkspaceSizes {
  readonly #sections = new Map<string, Map<string, number>>();
  #total = 0;

  /** The bytes of all workspaces. */
  get total(): number {
    return this.#total;
  }

  /** Sets the files of a workspace. */
  replace(section: string, files: Files): void {
    for (const bytes of this.#sections.get(section)?.values() ?? []) this.#total -= bytes;
    this.#sections.set(section, new Map());
    this.#add(section, files);
  }

  /** Applies the changes of a workspace. */
  apply({ section, isComplete, files, deleted }: WorkspaceManifest): void {
    if (isComplete) this.replace(section, {});
    for (const path of deleted) this.#remove(section, path);
    this.#add(section, files);
  }

  #add(section: string, files: Files): void {
    for (const [path, { bytes }] of Object.entries(files)) {
      this.#remove(section, path);
      this.#sections.get(section)?.set(path, bytes);
      this.#total += bytes;
    }
  }

  #remove(section: string, path: string): void {
    const sizes = this.#sections.get(section);
    this.#total -= sizes?.get(path) ?? 0;
    sizes?.delete(path);
  }
}
