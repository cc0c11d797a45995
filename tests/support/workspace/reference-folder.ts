import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readFiles } from "./workspace-fixture.ts";

/**
 * Python that defines `at(path)`, which returns where a workspace file is: in a container with folders, in a
 * container with flat names, or in a host folder.
 */
export const PATH_LOOKUP = `import glob, json, os
_listed = glob.glob("/mnt/data/*-wink-7c1e-paths.json")
_places = json.load(open(max(_listed, key=os.path.getmtime))) if _listed else {}
def at(path):
    return _places.get(path, path)
`;

/** A plain host folder that receives the same changes as a workspace. */
export class ReferenceFolder {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The files by path, as Latin-1. */
  get files(): Readonly<Record<string, string>> {
    return readFiles(this.folder);
  }

  write(path: string, bytes: string | Uint8Array): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), bytes);
  }

  delete(path: string): void {
    rmSync(join(this.folder, path));
  }

  /** Runs Python in the folder, without a container. */
  run(code: string): void {
    execFileSync("python3", ["-c", `${PATH_LOOKUP}${code}`], { cwd: this.folder });
  }
}
