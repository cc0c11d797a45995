import type { GroupLimits } from "./group-folder.ts";

/** The kernel's means to hold the limits of containers on this host. */
export interface ResourceControl {
  /** Names the means for people, such as `"cgroup v2"`. */
  readonly means: string;
  /** Creates a group for one container. Throws if the kernel refuses it. */
  createGroup(limits: GroupLimits): ResourceGroup;
}

/** The group that all processes of one container are in. */
export interface ResourceGroup {
  /** Extends a command so that it enters the group before it starts. */
  wrap(command: readonly string[]): WrappedCommand;
  /** Call when the wrapped command runs. */
  onStart(pid: number): void;
  /** Stops every process of the group. Does nothing where the kernel cannot do it in one step. */
  freeze(): void;
  /** Lets every process of the group continue. */
  thaw(): void;
  /** Returns how often the kernel killed a process because the memory of the group was used up. */
  countMemoryKills(): number;
  /** Kills every process of the group. */
  kill(): void;
  /** Kills every process and removes the group. Does not throw. */
  remove(): Promise<void>;
}

/** A command that enters a group. */
export interface WrappedCommand {
  readonly command: readonly string[];
  /** Variables that the command needs in addition to `PATH`. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The result of `findResourceControl`. */
export type FoundControl =
  | { readonly control: ResourceControl }
  /** Nothing usable: why, and what to do. */
  | { readonly control: null; readonly reason: string };
