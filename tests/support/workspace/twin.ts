import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesIn } from "./stage.ts";

/**
 * Goes before Python that has paths of a workspace: `at(path)` is where the file is, be it in a
 * container with a tree, in one with flat names, or in a folder of this machine.
 */
export const FINDING = `import glob, json, os
_listed = glob.glob("/mnt/data/*-wink-7c1e-paths.json")
_places = json.load(open(max(_listed, key=os.path.getmtime))) if _listed else {}
def at(path):
    return _places.get(path, path)
`;

/** A plain folder of this machine, to which the same is done as to a workspace. */
export class Twin {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Byte for byte, by path. */
  get files(): Readonly<Record<string, string>> {
    return filesIn(this.folder);
  }

  write(path: string, bytes: string | Uint8Array): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), bytes);
  }

  delete(path: string): void {
    rmSync(join(this.folder, path));
  }

  /** Runs the same Python, without any container. */
  run(code: string): void {
    execFileSync("python3", ["-c", `${FINDING}${code}`], { cwd: this.folder });
  }
}
