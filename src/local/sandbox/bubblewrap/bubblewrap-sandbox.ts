import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../base/clock.ts";
import { findResourceControl } from "../cgroups/find-resource-control.ts";
import { GroupedProcess } from "../cgroups/grouped-process.ts";
import { toContainerLimits } from "../container-limits.ts";
import { isBoundedFolder } from "../is-bounded-folder.ts";
import { compileSandboxProgram } from "../kernel/compile-program.ts";
import { requireEnforced } from "../require-enforced.ts";
import type { Sandbox, SandboxOptions, SandboxProbe, SandboxProcess } from "../sandbox.ts";
import { buildSeccompFilter } from "../seccomp/build-filter.ts";
import { describeFilter } from "../seccomp/describe-filter.ts";
import { SupervisedProcess } from "../supervised/supervised-process.ts";
import { bubblewrapLauncher } from "./bubblewrap-launcher.ts";
import { chooseIdentity } from "./choose-identity.ts";
import { createContainerGroup } from "./create-container-group.ts";
import { reportLimits } from "./report-limits.ts";

/** Options of {@link bubblewrapSandbox}. */
export interface BubblewrapOptions {
  /** Path of bwrap, or its name in the system's folders. @default "bwrap" */
  readonly bubblewrap?: string | undefined;
  /** The system's own Python, below `/usr`. @default "/usr/bin/python3" */
  readonly python?: string | undefined;
  /** Milliseconds that code may take to stop after its timeout before its interpreter is killed. @default 1000 */
  readonly graceMs?: number | undefined;
  /** Clock for timeouts. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** Creates a sandbox from Linux namespaces (`bwrap`): CPython and a shell, a read-only view of the system, no network. */
export function bubblewrapSandbox(options: BubblewrapOptions = {}): Sandbox {
  const { bubblewrap = "bwrap", python = "/usr/bin/python3" } = options;
  const { clock = systemClock, graceMs = 1_000 } = options;

  async function open(container: SandboxOptions): Promise<SandboxProcess> {
    const root = await realpath(container.root);
    const uidMap = await readFile("/proc/self/uid_map", "utf8");
    const found = await findResourceControl();
    const program = await compileSandboxProgram(python);
    // No process has been started yet; the first run does that.
    container.signal?.throwIfAborted();
    const identity = chooseIdentity(root, userInfo().uid, uidMap);
    const limits = toContainerLimits(container);
    const disk = await isBoundedFolder(root, limits.diskBytes);
    if (container.require === "enforced") requireEnforced(reportLimits(found, disk));
    const group = createContainerGroup(found, limits, container.require);
    const seccomp = buildSeccompFilter(process.arch);
    const housing = { bubblewrap, python, program, root, identity, limits, seccomp, group };
    const launcher = bubblewrapLauncher(housing);
    const enforced = { memory: group !== null, processes: group !== null, disk };
    const owner = identity.kind === "own user" ? identity.uid : null;
    const settings = { launcher, root, limits, enforced, owner };
    const supervised = new SupervisedProcess(settings, { clock, graceMs });
    return group ? new GroupedProcess(supervised, group, { clock, limits }) : supervised;
  }

  return Object.freeze({
    name: "bubblewrap",
    isolation:
      "Linux namespaces (bubblewrap): no network, no host files except a read-only /usr, no host processes, " +
      "limits on memory, disk, processes and time. The kernel is shared with the host.",
    open,
    async probe() {
      if (process.platform !== "linux") return { usable: false, reason: "bubblewrap needs Linux" };
      if (!existsSync(python)) {
        return { usable: false, reason: `${python} is missing: apt-get install python3` };
      }
      const trial = await runTrial(open);
      if (!trial.usable) return trial;
      return { ...trial, limits: reportLimits(await findResourceControl(), false) };
    },
  });
}

/** Runs a line of Python. An installed bwrap may still lack permissions, which only a run shows. */
async function runTrial(
  open: (container: SandboxOptions) => Promise<SandboxProcess>,
): Promise<SandboxProbe> {
  const root = await mkdtemp(join(tmpdir(), "weakincentives-probe-"));
  try {
    await using container = await open({ root, memoryBytes: 256 * 1024 ** 2 });
    const run = await container.python("print(1)", { timeoutMs: 10_000, maxOutputBytes: 1_000 });
    if (run.stdout === "1\n") {
      return { usable: true, reason: `a trial run succeeded${describeFilter(process.arch)}` };
    }
    return { usable: false, reason: `a trial run failed: ${run.error ?? run.stderr}` };
  } catch (error) {
    return { usable: false, reason: explainProblem(String(error).replace(/^Error: /, "")) };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function explainProblem(problem: string): string {
  if (/ENOENT|not found/.test(problem)) return "bwrap is not installed: apt-get install bubblewrap";
  if (/namespace|not permitted|Permission denied|uid map/i.test(problem)) {
    return (
      `${problem}; allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu also ` +
      "kernel.apparmor_restrict_unprivileged_userns=0, in Docker --security-opt seccomp=unconfined"
    );
  }
  return problem;
}
