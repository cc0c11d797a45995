import { readdirSync } from "node:fs";
import { lstat, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * What the SDK's sandbox makes in a workspace to keep commands from writing there: empty files that it
 * removes after each command, if it is not killed meanwhile, and a folder that it does not remove.
 */
export class SandboxTraces {
  readonly #workspace: string;
  readonly #before: ReadonlySet<string>;

  /** Notes what is there before a run. */
  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#before = new Set(placeholdersIn(workspace));
  }

  /** Removes what has come since, if it is empty: whatever has bytes is somebody's work. */
  async remove(): Promise<void> {
    const made = placeholdersIn(this.#workspace).filter((path) => !this.#before.has(path));
    // Deepest first, so that a folder is empty by the time it is looked at.
    for (const path of made.reverse()) await removeEmpty(join(this.#workspace, path));
  }
}

const FOLDER = ".claude";
const NAMES = [
  ...[".bash_profile", ".bashrc", ".gitconfig", ".gitmodules", ".idea", ".mcp.json", ".profile"],
  ...[".ripgreprc", ".vscode", ".zprofile", ".zshrc", FOLDER],
];

/** Parents first. */
function placeholdersIn(workspace: string): readonly string[] {
  const here = new Set(entriesOf(workspace));
  const found = NAMES.filter((name) => here.has(name));
  if (!here.has(FOLDER)) return found;
  return [...found, ...entriesOf(join(workspace, FOLDER)).map((name) => join(FOLDER, name))];
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there is no such folder, or it may not be read
  }
}

async function removeEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isDirectory()) await rmdir(path).catch(() => {}); // there is something in it
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}
