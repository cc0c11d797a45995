import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process that opens the database in a folder. */
export interface FolderHolder {
  readonly child: ChildProcess;
  /** The output of the process so far, with its errors. */
  read(): string;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string>;
}

/** Starts a process that opens the database in a folder: see `hold-folder-main.ts`. */
export function holdFolder(folder: string, mode?: "--close" | "--exit"): FolderHolder {
  const main = fileURLToPath(new URL("hold-folder-main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, folder, ...(mode ? [mode] : [])]);
  let text = "";
  child.stdout.on("data", (data) => {
    text += String(data);
  });
  child.stderr.on("data", (data) => {
    text += String(data);
  });
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, read: () => text, ended };
}
