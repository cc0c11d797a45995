import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "../ids.ts";

/** The folder that receives uploads. It is on the same disk as the stored files, so that a rename moves them. */
export class IncomingFolder {
  /** The maximum size of one file. */
  readonly maxFileBytes: number;
  readonly #folder: string;
  readonly #ids: Ids;

  /** Creates the folder and deletes uploads that an earlier process did not finish. */
  constructor(options: {
    readonly dataDir: string;
    readonly ids: Ids;
    readonly maxFileBytes: number;
  }) {
    this.maxFileBytes = options.maxFileBytes;
    this.#folder = join(options.dataDir, "incoming");
    this.#ids = options.ids;
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Returns an unused path. */
  createPath(): string {
    return join(this.#folder, this.#ids.next("incoming-"));
  }
}
