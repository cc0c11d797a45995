import type { ContainerLimits } from "../limits.ts";
import type { Identity } from "./identity.ts";
import { systemFolders } from "./system.ts";

/** What a sandbox is made of. */
export interface Confinement {
  /** A folder of the host, without symbolic links in its path. */
  readonly root: string;
  readonly identity: Identity;
  readonly limits: ContainerLimits;
  /** The descriptors from which bwrap reads what has no file: see `bubblewrap-child.ts`. */
  readonly descriptors: {
    readonly status: number;
    readonly users: number;
    readonly groups: number;
    readonly seccomp: number | null;
  };
}

/** All of bwrap's arguments up to the program it starts. */
export function bubblewrapArguments(confinement: Confinement): readonly string[] {
  const { descriptors, identity, limits, root } = confinement;
  return [
    ...isolation(identity),
    ...systemFolders(root, "/"),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...temporary("/dev/shm", limits.temporaryBytes),
    ...temporary("/tmp", limits.temporaryBytes),
    ...["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/mnt"],
    ...["--perms", "0644", "--ro-bind-data", String(descriptors.users), "/etc/passwd"],
    ...["--perms", "0644", "--ro-bind-data", String(descriptors.groups), "/etc/group"],
    ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ...["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ...["--bind", root, "/mnt/data", "--chdir", "/"],
    // Both are memory of ours without a size: nobody shall write there.
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--info-fd", String(descriptors.status)],
    ...(descriptors.seccomp === null ? [] : ["--seccomp", String(descriptors.seccomp)]),
    "--clearenv",
    ...ENVIRONMENT.flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/** Who the code believes to be. */
export function userFiles(identity: Identity): { readonly users: string; readonly groups: string } {
  const id = identity.kind === "own user" ? identity.uid : INSIDE_ID;
  return {
    users: `root:x:0:0:root:/tmp:/bin/sh\nsandbox:x:${id}:${id}:sandbox:/tmp:/bin/sh\n`,
    groups: `root:x:0:\nsandbox:x:${id}:\n`,
  };
}

const INSIDE_ID = 1000;

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["HOME", "/tmp"],
  ["USER", "sandbox"],
  ["PATH", "/usr/local/bin:/usr/bin:/bin"],
  ["LANG", "C.UTF-8"],
  ["TERM", "dumb"],
  ["MPLBACKEND", "Agg"],
  ["MPLCONFIGDIR", "/tmp"],
  ["OPENBLAS_NUM_THREADS", "1"],
  // Each thread's heap would take 64 MiB of the address space, which is limited.
  ["MALLOC_ARENA_MAX", "2"],
];

function isolation(identity: Identity): readonly string[] {
  const always = ["--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "container"];
  if (identity.kind === "namespace") {
    const inside = String(INSIDE_ID);
    const user = ["--unshare-user", "--uid", inside, "--gid", inside];
    return ["--unshare-all", ...user, ...always, "--cap-drop", "ALL"];
  }
  const spaces = ["ipc", "pid", "net", "uts", "cgroup-try"].map((space) => `--unshare-${space}`);
  // No user namespace: in one, we would still be root outside. The supervisor changes its user
  // with these two rights, and loses them by it.
  const rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
  return [...spaces, ...always, ...rights];
}

function temporary(folder: string, bytes: number): readonly string[] {
  return ["--perms", "1777", "--size", String(bytes), "--tmpfs", folder];
}
