import { readFileSync } from "node:fs";
import { type ContainerLimits, SUPERVISOR_PROCESSES } from "../container-limits.ts";
import type { ContainerUser } from "./choose-user.ts";
import { CONTAINER_LABEL } from "./container-name.ts";
import type { EngineInfo } from "./read-engine-info.ts";

/** How one container is confined. */
export interface ContainerSettings {
  readonly info: EngineInfo;
  readonly user: ContainerUser;
  /** The image's digest. */
  readonly image: string;
  /** The container's folder on the host. */
  readonly root: string;
  readonly limits: ContainerLimits;
}

/** Builds the arguments of `docker run` or `podman run` that start `command` in a new container called `name`. */
export function buildRunArguments(
  { image, info, limits, root, user }: ContainerSettings,
  name: string,
  command: readonly string[],
): readonly string[] {
  return [
    ...["run", "--name", name, "--label", CONTAINER_LABEL, "--interactive", "--rm"],
    ...["--pull", "never", "--log-driver", "none", "--stop-timeout", "0"],
    ...[
      "--network",
      "none",
      "--ipc",
      "private",
      "--cgroupns",
      "private",
      "--hostname",
      "container",
    ],
    ...["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ...["--user", user.user, ...(user.keepId ? ["--userns", "keep-id"] : [])],
    ...buildLimitArguments(limits),
    ...(info.engine === "podman" ? PODMAN_ARGUMENTS : DOCKER_ARGUMENTS),
    ...["--mount", buildMount(root, info)],
    // The image's own entry point, health check, working directory and environment have no effect.
    ...["--no-healthcheck", "--workdir", "/", "--entrypoint", "/usr/bin/env", image, "-i"],
    ...ENVIRONMENT,
    ...command,
  ];
}

/** Memory for the supervisor, which is in the container's control group as well. */
export const SUPERVISOR_BYTES: number = 24 * 1024 ** 2;

function buildLimitArguments(limits: ContainerLimits): readonly string[] {
  const memory = String(limits.memoryBytes + SUPERVISOR_BYTES);
  const processes = String(limits.maxProcesses + SUPERVISOR_PROCESSES);
  const perUser = readProcessLimit();
  return [
    ...["--memory", memory, "--memory-swap", memory, "--pids-limit", processes],
    ...["--shm-size", String(limits.temporaryBytes)],
    ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${limits.temporaryBytes}`],
    ...["--ulimit", "core=0:0", "--ulimit", "msgqueue=0:0", "--ulimit", "nofile=1024:1024"],
    ...(perUser === null ? [] : ["--ulimit", `nproc=${perUser}:${perUser}`]),
  ];
}

/** The engine's own files would show the host's name servers, which code in the container does not need. */
const DOCKER_ARGUMENTS = ["--dns", "192.0.2.1", "--dns-search", "."];
const PODMAN_ARGUMENTS = [
  ...["--http-proxy=false", "--no-hosts", "--read-only-tmpfs=false", "--image-volume", "ignore"],
];

const ENVIRONMENT = [
  "HOME=/tmp",
  "USER=sandbox",
  "PATH=/usr/local/bin:/usr/bin:/bin",
  "LANG=C.UTF-8",
  "TERM=dumb",
  "MPLBACKEND=Agg",
  "MPLCONFIGDIR=/tmp",
  "OPENBLAS_NUM_THREADS=1",
  // Each thread's heap would reserve 64 MiB of the limited address space.
  "MALLOC_ARENA_MAX=2",
];

/** Builds the value of `--mount`, a line of CSV: the folder's path may contain commas, quotes and colons. */
function buildMount(root: string, { engine, selinux }: EngineInfo): string {
  const fields = ["type=bind", `source=${root}`, "target=/mnt/data"];
  if (engine === "podman" && selinux) fields.push("relabel=private");
  return fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(",");
}

/**
 * Returns the limit of processes per user that this process may pass on, or `null` if it is unknown. Podman
 * otherwise tries to raise it, which fails without privileges.
 */
export function readProcessLimit(file = "/proc/self/limits"): number | null {
  try {
    const text = readFileSync(file, "utf8");
    const hard = /^Max processes +\S+ +(\S+)/m.exec(text)?.[1];
    return hard === "unlimited" ? MAX_PER_USER : Math.min(Number(hard), MAX_PER_USER);
  } catch {
    return null; // not Linux: the engine runs in a virtual machine
  }
}

const MAX_PER_USER = 32_768;
