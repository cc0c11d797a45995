import { readFileSync } from "node:fs";
import { findHierarchies } from "./find-hierarchies.ts";
import {
  countMemoryKills,
  type GroupFolder,
  type GroupLimits,
  killAll,
  setFrozen,
} from "./group-folder.ts";
import type { ResourceControl, ResourceGroup, WrappedCommand } from "./resource-control.ts";

/**
 * Creates groups with the help of the user's systemd, which may do so without being root. `proc` is where the
 * kernel describes processes.
 */
export function systemdControl(
  environment: NodeJS.ProcessEnv = process.env,
  proc = "/proc",
): ResourceControl {
  return {
    means: "systemd-run --user --scope",
    createGroup: (limits) => new SystemdGroup(limits, environment, proc),
  };
}

/** A scope: systemd creates it when the command starts and removes it after its last process has ended. */
class SystemdGroup implements ResourceGroup {
  readonly #limits: GroupLimits;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #proc: string;
  #folder: GroupFolder | null = null;

  constructor(limits: GroupLimits, environment: NodeJS.ProcessEnv, proc: string) {
    this.#limits = limits;
    this.#environment = environment;
    this.#proc = proc;
  }

  wrap(command: readonly string[]): WrappedCommand {
    const { memoryBytes, processes } = this.#limits;
    const properties = [
      `MemoryMax=${Math.ceil(memoryBytes)}`,
      "MemorySwapMax=0",
      `TasksMax=${processes}`,
    ].flatMap((property) => ["-p", property]);
    const names = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] as const;
    const environment: Record<string, string> = {};
    for (const name of names) {
      const value = this.#environment[name];
      if (value !== undefined) environment[name] = value;
    }
    const scope = ["systemd-run", "--user", "--scope", "--quiet", "--collect"];
    return { command: [...scope, ...properties, "--", ...command], environment };
  }

  /** `systemd-run` becomes the command, so its process is in the group that systemd created. */
  onStart(pid: number): void {
    this.#folder = findScope(this.#proc, pid);
  }

  freeze(): void {
    this.#use((folder) => setFrozen(folder, true));
  }

  thaw(): void {
    this.#use((folder) => setFrozen(folder, false));
  }

  countMemoryKills(): number {
    return this.#use(countMemoryKills) ?? 0;
  }

  kill(): void {
    this.#use(killAll);
  }

  async remove(): Promise<void> {
    this.kill();
  }

  /** The folder vanishes with the last process. */
  #use<Result>(work: (folder: GroupFolder) => Result): Result | null {
    try {
      return this.#folder && work(this.#folder);
    } catch {
      return null;
    }
  }
}

function findScope(proc: string, pid: number): GroupFolder | null {
  try {
    const membership = readFileSync(`${proc}/${pid}/cgroup`, "latin1");
    const hierarchies = findHierarchies(
      readFileSync(`${proc}/self/mountinfo`, "latin1"),
      membership,
    );
    const unified = hierarchies.find(({ version }) => version === 2);
    if (!unified?.own.endsWith(".scope")) return null;
    return { path: unified.own, version: 2, memory: true, processes: true, freezer: true };
  } catch {
    return null; // it has just exited
  }
}
