import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { buildSeccompFilter } from "../seccomp/build-filter.ts";

/** A barrier of the operating system around the child process, in addition to Node's restrictions. */
export interface Barrier {
  readonly kind: "bubblewrap" | "unshare" | "none";
  /** Description for people. Continues the sentence "a trial run succeeded". */
  readonly description: string;
  /** Builds the command that starts `program` behind it. The program can read only `files`. */
  wrap(program: readonly string[], files: readonly string[]): readonly string[];
  /** Bytes that the command reads from file descriptor 5, after the standard streams and the channel. */
  readonly filter: Buffer | null;
}

const FILTER_DESCRIPTOR = 5;

const FOLDERS = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];
const DEVICES = ["/dev/null", "/dev/urandom"];

/** No network, no other processes, no files except the program's and the system's libraries, few system calls. */
export const BUBBLEWRAP: Barrier = {
  kind: "bubblewrap",
  description: "inside bubblewrap: no network, no other processes, no files of the host",
  filter: buildSeccompFilter(process.arch),
  wrap(program, files) {
    return [
      ...["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"],
      ...["--hostname", "container", "--cap-drop", "ALL", "--clearenv"],
      ...FOLDERS.flatMap((folder) => ["--ro-bind-try", folder, folder]),
      ...DEVICES.flatMap((device) => ["--dev-bind", device, device]),
      ...files.filter(existsSync).flatMap((file) => ["--ro-bind", file, file]),
      ...["--remount-ro", "/", "--chdir", "/"],
      ...(this.filter === null ? [] : ["--seccomp", String(FILTER_DESCRIPTOR)]),
      ...["--", ...program],
    ];
  },
};

/** No network and no other processes. Files are left to Node's permission model. */
export const UNSHARE: Barrier = {
  kind: "unshare",
  description:
    "inside separate namespaces (unshare): no network and no other processes; files are closed by Node only, " +
    "so it is not a security boundary against hostile code",
  filter: null,
  wrap: (program) => [
    ...["unshare", "--user", "--map-root-user", "--net", "--ipc", "--uts", "--pid", "--fork"],
    ...["--kill-child=KILL", "--", ...program],
  ],
};

export const NO_BARRIER: Barrier = {
  kind: "none",
  description:
    "without a barrier of the operating system (install bubblewrap for one): it is not a security boundary " +
    "against hostile code",
  filter: null,
  wrap: (program) => program,
};

let found: Promise<Barrier> | undefined;

/** Finds the strongest barrier that works on this host, once. */
export function findBarrier(): Promise<Barrier> {
  found ??= chooseBarrier([BUBBLEWRAP, UNSHARE]);
  return found;
}

/** Returns the first barrier behind which Node starts, or {@link NO_BARRIER}. */
export async function chooseBarrier(candidates: readonly Barrier[]): Promise<Barrier> {
  for (const barrier of process.platform === "linux" ? candidates : []) {
    if (await startsNode(barrier)) return barrier;
  }
  return NO_BARRIER;
}

/** Whether Node starts behind the barrier and prints a result. */
function startsNode(barrier: Barrier): Promise<boolean> {
  // The trial has no filter, which needs a separate descriptor.
  const [file = "", ...args] = { ...barrier, filter: null }.wrap(
    [process.execPath, "-p", "6 * 7"],
    [process.execPath],
  );
  return new Promise((resolve) => {
    execFile(file, args, { env: SEARCH_PATH, timeout: 10_000 }, (error, output) =>
      resolve(error === null && output === "42\n"),
    );
  });
}

/** Only for finding the barrier's own program. */
export const SEARCH_PATH: NodeJS.ProcessEnv = { PATH: "/usr/local/bin:/usr/bin:/bin" };
