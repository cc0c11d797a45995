import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The folder with the parts of all pending uploads, named by id. */
export class PartFolder {
  readonly #folder: string;

  /** Creates the folder. Deletes files that are no known part: a killed process may have left them. */
  constructor(dataDir: string, known: ReadonlySet<string>) {
    this.#folder = join(dataDir, "uploads");
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#folder))
      if (!known.has(name)) rmSync(this.toPath(name), { recursive: true, force: true });
  }

  /** Returns the path of a part. */
  toPath(id: string): string {
    return join(this.#folder, id);
  }

  remove(parts: readonly { readonly id: string }[]): void {
    for (const { id } of parts) rmSync(this.toPath(id), { force: true });
  }
}
