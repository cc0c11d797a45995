import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "../ids.ts";

/** Where bytes arrive before they are whole: on the disk of the rest, so that a rename moves them. */
export class IncomingFolder {
  /** Of one file. */
  readonly maxFileBytes: number;
  readonly #folder: string;
  readonly #ids: Ids;

  /** What an earlier process did not finish is removed. */
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

  /** A path at which nothing is. */
  place(): string {
    return join(this.#folder, this.#ids.next("incoming-"));
  }
}
