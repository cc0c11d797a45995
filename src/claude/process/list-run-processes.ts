import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { isDeadState, parseProcessStat } from "../../host/process-identity.ts";

/** A running process, as the operating system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Distinguishes the process from a later one with the same pid. */
  readonly startedAt: string;
  /** Whether its environment contains the run's id. Always `false` outside Linux. */
  readonly isMarked: boolean;
}

/** A run's id and its root process. */
export interface RunOrigin {
  readonly runId: string;
  /** The pid of the process that started the run. */
  readonly root: number;
  /** Whether the root process has ended, so that its pid may belong to another one. @default false */
  readonly hasEnded?: boolean | undefined;
}

/** The environment variable that holds the run's id in every process of the run. */
export const RUN_VARIABLE = "WINK_RUN";

/**
 * Lists the running processes of a run: the root process and its group, processes whose environment
 * contains the run's id, and the descendants of all of these. `known` are processes that were found
 * before and may no longer be traceable to the run; those still running are included.
 */
export async function listRunProcesses(
  { runId, root, hasEnded = false }: RunOrigin,
  known: readonly ListedProcess[] = [],
  { proc = "/proc" }: { readonly proc?: string } = {},
): Promise<readonly ListedProcess[]> {
  const all = (await listFromProc(proc, runId)) ?? (await listFromPs());
  const seen = new Set(known.map(toIdentity));
  const found = new Map<number, ListedProcess>();
  const isPidReused = hasEnded && all.some(({ pid, isMarked }) => pid === root && !isMarked);
  const isRootOrInGroup = ({ pid, group }: ListedProcess) => pid === root || group === root;
  const belongsToRun = (one: ListedProcess) =>
    (isRootOrInGroup(one) && !isPidReused) || one.isMarked || seen.has(toIdentity(one));
  for (const one of all.filter(belongsToRun)) found.set(one.pid, one);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.set(one.pid, one);
  }
  found.delete(process.pid);
  return [...found.values()];
}

function toIdentity({ pid, startedAt }: ListedProcess): string {
  return `${pid} ${startedAt}`;
}

/** Returns `null` on systems without `/proc`. */
async function listFromProc(proc: string, runId: string): Promise<readonly ListedProcess[] | null> {
  const names = await readdir(proc).catch(() => null);
  const pids = names?.map(Number).filter((pid) => Number.isSafeInteger(pid) && pid > 0) ?? [];
  if (pids.length === 0) return null;
  const processes = await Promise.all(pids.map((pid) => readProcess(proc, pid, runId)));
  return processes.filter((one) => one !== null);
}

async function readProcess(
  proc: string,
  pid: number,
  runId: string,
): Promise<ListedProcess | null> {
  const [text, environ] = await Promise.all([
    readFile(`${proc}/${pid}/stat`, "latin1").catch(() => ""), // it has just ended
    readFile(`${proc}/${pid}/environ`, "latin1").catch(() => ""), // it belongs to another user
  ]);
  const stat = parseProcessStat(text);
  if (stat === null || stat.isDead) return null;
  const { parent, group, startTicks } = stat;
  const isMarked = environ.split("\0").includes(`${RUN_VARIABLE}=${runId}`);
  return { pid, parent, group, startedAt: String(startTicks), isMarked };
}

async function listFromPs(): Promise<readonly ListedProcess[]> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=";
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", columns]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, state, ...startedAt] = line.trim().split(/\s+/);
    if (state === undefined || isDeadState(state)) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...numbers, startedAt: startedAt.join(" "), isMarked: false }];
  });
}
