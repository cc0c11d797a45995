import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process that lives, as Linux shows it. */
export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** The run that it names, if it names one. */
  readonly run: string | null;
}

/**
 * All processes that have to do with a folder: its path is in their environment or in how they were
 * started, or they work in it; and whatever descends from them.
 */
export function processesAbout(folder: string): readonly SeenProcess[] {
  const all = readdirSync("/proc").map(Number).filter(Number.isSafeInteger).flatMap(processAt);
  const found = new Map<number, SeenProcess>();
  for (const one of all) if (one.about.includes(folder)) found.set(one.pid, shown(one));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, shown(one));
  }
  found.delete(process.pid);
  return [...found.values()];
}

interface ReadProcess extends SeenProcess {
  readonly about: string;
}

function shown({ pid, parent, command, run }: ReadProcess): SeenProcess {
  return { pid, parent, command, run };
}

function processAt(pid: number): readonly ReadProcess[] {
  const stat = textOf(`/proc/${pid}/stat`);
  // A process may call itself anything: its third field is the first one after its name.
  const [state = "Z", parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || "ZX".includes(state)) return [];
  const environ = textOf(`/proc/${pid}/environ`);
  const command = textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
  const run = /(?:^|\0)WINK_RUN=([^\0]*)/.exec(environ)?.[1] ?? null;
  const about = [environ, command, linkOf(`/proc/${pid}/cwd`)].join("\0");
  return [{ pid, parent: Number(parent), command: command.slice(0, 120), run, about }];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has ended meanwhile, or is another user's
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
