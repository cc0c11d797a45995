import type { ContainerLimits } from "../container-limits.ts";
import { buildSystemMounts } from "./build-system-mounts.ts";
import type { Identity } from "./choose-identity.ts";

/** How one sandbox is confined. */
export interface Confinement {
  /** The container's folder on the host. Its path has no symbolic links. */
  readonly root: string;
  readonly identity: Identity;
  readonly limits: ContainerLimits;
  /** File descriptors from which bwrap reads generated content and to which it reports its status; see `child.ts`. */
  readonly descriptors: {
    readonly status: number;
    readonly users: number;
    readonly groups: number;
    readonly seccomp: number | null;
  };
}

/** Builds bwrap's arguments up to the program it starts. */
export function buildArguments(confinement: Confinement): readonly string[] {
  const { descriptors, identity, limits, root } = confinement;
  return [
    ...buildIsolationArguments(identity),
    ...buildSystemMounts(root, "/"),
    ...["--proc", "/proc"],
    ...DEVICES,
    ...buildTemporaryMount("/dev/shm", limits.temporaryBytes),
    ...buildTemporaryMount("/tmp", limits.temporaryBytes),
    ...["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/mnt"],
    ...["--perms", "0644", "--ro-bind-data", String(descriptors.users), "/etc/passwd"],
    ...["--perms", "0644", "--ro-bind-data", String(descriptors.groups), "/etc/group"],
    ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ...["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    // Debian's packages of Matplotlib and of fonts do not work without their settings.
    ...["--ro-bind-try", "/etc/matplotlibrc", "/etc/matplotlibrc"],
    ...["--ro-bind-try", "/etc/fonts", "/etc/fonts"],
    ...["--bind", root, "/mnt/data", "--chdir", "/"],
    // Both are in-memory file systems without a size limit, so they must be read-only.
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--info-fd", String(descriptors.status)],
    ...(descriptors.seccomp === null ? [] : ["--seccomp", String(descriptors.seccomp)]),
    "--clearenv",
    ...ENVIRONMENT.flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/** Builds `/etc/passwd` and `/etc/group` for the code inside. */
export function buildUserFiles(identity: Identity): {
  readonly users: string;
  readonly groups: string;
} {
  const id = identity.kind === "own user" ? identity.uid : INSIDE_ID;
  return {
    users: `root:x:0:0:root:/tmp:/bin/sh\nsandbox:x:${id}:${id}:sandbox:/tmp:/bin/sh\n`,
    groups: `root:x:0:\nsandbox:x:${id}:\n`,
  };
}

const INSIDE_ID = 1000;

/** A `/dev` without terminals: a host's user has a limited number of pseudo-terminals. */
const DEVICES: readonly string[] = [
  ...["--perms", "0755", "--tmpfs", "/dev"],
  ...["null", "zero", "full", "random", "urandom"].flatMap((name) => [
    ...["--dev-bind", `/dev/${name}`, `/dev/${name}`],
  ]),
  ...["--symlink", "/proc/self/fd", "/dev/fd"],
  ...["stdin", "stdout", "stderr"].flatMap((name, descriptor) => [
    ...["--symlink", `/proc/self/fd/${descriptor}`, `/dev/${name}`],
  ]),
];

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["HOME", "/tmp"],
  ["USER", "sandbox"],
  ["PATH", "/usr/local/bin:/usr/bin:/bin"],
  ["LANG", "C.UTF-8"],
  ["TERM", "dumb"],
  ["MPLBACKEND", "Agg"],
  ["MPLCONFIGDIR", "/tmp"],
  ["OPENBLAS_NUM_THREADS", "1"],
  // Each thread's heap would reserve 64 MiB of the limited address space.
  ["MALLOC_ARENA_MAX", "2"],
];

function buildIsolationArguments(identity: Identity): readonly string[] {
  const always = ["--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "container"];
  if (identity.kind === "namespace") {
    const inside = String(INSIDE_ID);
    const user = ["--unshare-user", "--uid", inside, "--gid", inside];
    return ["--unshare-all", ...user, ...always, "--cap-drop", "ALL"];
  }
  const spaces = ["ipc", "pid", "net", "uts", "cgroup-try"].map((space) => `--unshare-${space}`);
  // No user namespace: inside one, code would still run as the host's root. The supervisor uses these
  // two capabilities to change its user, which drops them.
  const rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
  return [...spaces, ...always, ...rights];
}

function buildTemporaryMount(folder: string, bytes: number): readonly string[] {
  return ["--perms", "1777", "--size", String(bytes), "--tmpfs", folder];
}
