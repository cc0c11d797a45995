import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../host/remove-tree.ts";
import { sweepAbandonedFolders, writeOwner } from "../../host/temporary-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";

const PREFIX = "wink-local-";

/** A data folder that exists as long as its provider. Other users cannot read it. */
export class TemporaryDataDir implements Disposable {
  readonly path: string;

  /** Creates the folder. If this process is killed, a later one finds in it who owned it. */
  constructor() {
    try {
      this.path = mkdtempSync(join(tmpdir(), PREFIX)); // accessible only to this user
      writeOwner(this.path);
    } catch (error) {
      throw toFilesystemErrorWithRemedy(
        error,
        tmpdir(),
        "set TMPDIR to a writable folder with enough space, or pass dataDir",
      );
    }
  }

  /** Removes the folder, its owner file last, so that a later process can remove the rest. */
  [Symbol.dispose](): void {
    removeTree({ type: "remove", folder: this.path });
  }
}

/**
 * Removes the temporary data folders of providers whose process was killed, and returns their paths. `release` unmounts
 * what is mounted in one.
 */
export async function sweepTemporaryDataDirs(
  release: (folder: string) => Promise<void>,
): Promise<readonly string[]> {
  return await sweepAbandonedFolders({ prefix: PREFIX, release });
}
