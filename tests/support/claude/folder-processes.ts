import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A running process, as Linux lists it. */
export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** The run's id in its environment; `null` if it is not set. */
  readonly run: string | null;
}

/**
 * Lists all processes that use a folder, because its path is in their environment or command line or
 * is their working folder, and all descendants of these processes.
 */
export function listFolderProcesses(folder: string): readonly SeenProcess[] {
  const all = readdirSync("/proc").map(Number).filter(Number.isSafeInteger).flatMap(readProcess);
  const found = new Map<number, SeenProcess>();
  for (const one of all)
    if (one.searchText.includes(folder)) found.set(one.pid, toSeenProcess(one));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, toSeenProcess(one));
  }
  found.delete(process.pid);
  return [...found.values()];
}

interface ReadProcess extends SeenProcess {
  /** Environment, command line and working folder. */
  readonly searchText: string;
}

function toSeenProcess({ pid, parent, command, run }: ReadProcess): SeenProcess {
  return { pid, parent, command, run };
}

function readProcess(pid: number): readonly ReadProcess[] {
  const stat = readText(`/proc/${pid}/stat`);
  // A process name may contain spaces and parentheses, so the fields start after the last one.
  const [state = "Z", parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || "ZX".includes(state)) return [];
  const environ = readText(`/proc/${pid}/environ`);
  const command = readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
  const run = /(?:^|\0)WINK_RUN=([^\0]*)/.exec(environ)?.[1] ?? null;
  const searchText = [environ, command, readLink(`/proc/${pid}/cwd`)].join("\0");
  return [{ pid, parent: Number(parent), command: command.slice(0, 120), run, searchText }];
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // the process has just ended, or belongs to another user
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
