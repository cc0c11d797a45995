import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { isDeadState, parseProcessStat } from "../../host/process-identity.ts";

/** A process that lives, as the system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Tells it from a later one of the same number. */
  readonly startedAt: string;
  /** Whether its environment names the run. Only Linux says so. */
  readonly isMarked: boolean;
}

/** Which run, and the process that it began with. */
export interface RunOrigin {
  readonly runId: string;
  readonly root: number;
  /** Whether that one is gone: whoever has its number now is somebody else. @default false */
  readonly isOver?: boolean | undefined;
}

/** The variable that every process of a run has. */
export const RUN_VARIABLE = "WINK_RUN";

/**
 * Every living process of a run: those that descend from the first one, share its group or name the
 * run, and of `known` those that were found before and have since lost all that shows it.
 */
export async function processesOfRun(
  { runId, root, isOver = false }: RunOrigin,
  known: readonly ListedProcess[] = [],
  { proc = "/proc" }: { readonly proc?: string } = {},
): Promise<readonly ListedProcess[]> {
  const all = (await listedByProc(proc, runId)) ?? (await listedByPs());
  const seen = new Set(known.map(identity));
  const found = new Map<number, ListedProcess>();
  const isReused = isOver && all.some(({ pid, isMarked }) => pid === root && !isMarked);
  const isRoots = ({ pid, group }: ListedProcess) => pid === root || group === root;
  const isFirst = (one: ListedProcess) =>
    (isRoots(one) && !isReused) || one.isMarked || seen.has(identity(one));
  for (const one of all.filter(isFirst)) found.set(one.pid, one);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, one);
  }
  found.delete(process.pid);
  return [...found.values()];
}

function identity({ pid, startedAt }: ListedProcess): string {
  return `${pid} ${startedAt}`;
}

/** `null` where there is no such folder. */
async function listedByProc(proc: string, runId: string): Promise<readonly ListedProcess[] | null> {
  const names = await readdir(proc).catch(() => null);
  const pids = names?.map(Number).filter((pid) => Number.isSafeInteger(pid) && pid > 0) ?? [];
  if (pids.length === 0) return null;
  const listed = await Promise.all(pids.map((pid) => processAt(proc, pid, runId)));
  return listed.filter((one) => one !== null);
}

async function processAt(proc: string, pid: number, runId: string): Promise<ListedProcess | null> {
  const [text, environ] = await Promise.all([
    readFile(`${proc}/${pid}/stat`, "latin1").catch(() => ""), // it has ended meanwhile
    readFile(`${proc}/${pid}/environ`, "latin1").catch(() => ""), // not readable for other users
  ]);
  const stat = parseProcessStat(text);
  if (stat === null || stat.isDead) return null;
  const { parent, group, startTicks } = stat;
  const isMarked = environ.split("\0").includes(`${RUN_VARIABLE}=${runId}`);
  return { pid, parent, group, startedAt: String(startTicks), isMarked };
}

async function listedByPs(): Promise<readonly ListedProcess[]> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=";
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", columns]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, state, ...startedAt] = line.trim().split(/\s+/);
    if (state === undefined || isDeadState(state)) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...numbers, startedAt: startedAt.join(" "), isMarked: false }];
  });
}
