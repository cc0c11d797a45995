/**
 * Runs hostile programs in every sandbox that works on this host and prints the most that each could use of
 * its limit. Where the limit is enforced, the goal is 1.25 times the limit, or 32 MiB above it for bytes. Where it is
 * watched, it prints the excess. Run it with `npm run bench:limits`, or with the name of one sandbox after `--`. It fails if
 * a goal is missed, except with `--json`.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { ContainerDisks } from "../src/local/containers/disks/container-disks.ts";
import { findDiskSupport } from "../src/local/containers/disks/find-disk-support.ts";
import { listSandboxes } from "../src/local/sandbox/choose-sandbox.ts";
import { combineLimits } from "../src/local/sandbox/combine-limits.ts";
import type { LimitGrade, LimitReport, Sandbox } from "../src/local/sandbox/sandbox.ts";
import { HOSTILE_PROGRAMS, type HostileProgram } from "./hostile-programs.ts";
import { type Figure, isMet } from "./report/figure.ts";
import { printResult } from "./report/part-result.ts";
import { UsageMeter } from "./usage-meter.ts";

const MEBIBYTE = 2 ** 20;
const LIMITS = { memory: 200 * MEBIBYTE, disk: 64 * MEBIBYTE, processes: 32 };
const TIME_MS = 8_000;
const OUTPUT_BYTES = 100_000;

/** Processes of the sandbox itself, which are not counted as the container's. */
const OWN_PROCESSES = 6;

interface Result {
  readonly program: HostileProgram;
  readonly used: number;
  readonly limit: number;
  readonly grade: LimitGrade;
}

const support = await findDiskSupport();
const figures: Figure[] = [];
const notes: string[] = [];
const only = process.argv.slice(2).find((argument) => !argument.startsWith("-"));
for (const sandbox of await listSandboxes()) {
  if (only !== undefined && only !== sandbox.name) continue;
  const { usable, reason, limits } = await sandbox.probe();
  if (!usable) {
    notes.push(`${sandbox.name} does not work here: ${reason}`);
    continue;
  }
  const report = combineLimits(limits, support);
  notes.push(`${sandbox.name}: ${report.means}`);
  const programs = HOSTILE_PROGRAMS.filter(({ wasm }) => wasm || sandbox.name !== "wasm");
  const add = (result: Result) => figures.push(createFigure(sandbox.name, result));
  const sequential = programs.filter(({ resource }) => resource !== "time");
  for (const program of sequential) add(await attack(sandbox, program, report));
  const timed = programs.filter(({ resource }) => resource === "time");
  const results = await Promise.all(timed.map((program) => attack(sandbox, program, report)));
  for (const result of results) add(result);
}
printResult({ figures, notes });
const isExceeded = figures.some((figure) => isMet(figure) === false);
process.exitCode = isExceeded && !process.argv.includes("--json") ? 1 : 0;

async function attack(
  sandbox: Sandbox,
  program: HostileProgram,
  report: LimitReport,
): Promise<Result> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "wink-bench-limits-")));
  const disks = new ContainerDisks({ dataDir, bytes: LIMITS.disk });
  try {
    const root = (await disks.add("container")) ? (disks.getRoot("container") ?? dataDir) : dataDir;
    await using container = await sandbox.open({
      root,
      memoryBytes: LIMITS.memory,
      diskBytes: LIMITS.disk,
      maxProcesses: LIMITS.processes,
    });
    const settings = { timeoutMs: TIME_MS, maxOutputBytes: OUTPUT_BYTES };
    await container.python("1", { ...settings, timeoutMs: 60_000 });
    const meter = new UsageMeter(root);
    const started = performance.now();
    const { stderr, stdout } = await container.python(program.code, settings);
    const elapsed = performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, 200)); // processes that it left behind count too
    const usage = meter.stop();
    const enforced = "enforced" as const;
    switch (program.resource) {
      case "time":
        return { program, used: elapsed, limit: TIME_MS, grade: enforced };
      case "output":
        return {
          program,
          used: Buffer.byteLength(stdout) + Buffer.byteLength(stderr),
          limit: 2 * OUTPUT_BYTES,
          grade: enforced,
        };
      default: {
        const { resource } = program;
        return { program, used: usage[resource], limit: LIMITS[resource], grade: report[resource] };
      }
    }
  } finally {
    await disks[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function createFigure(sandbox: string, { program, used, limit, grade }: Result): Figure {
  const { name, resource } = program;
  const isBytes = resource === "memory" || resource === "disk";
  const most = Math.max(1.25 * limit, limit + (isBytes ? 32 * MEBIBYTE : 0));
  const allowed = most + (resource === "processes" ? OWN_PROCESSES : 0);
  const scale = isBytes ? MEBIBYTE : 1;
  return {
    what: `${sandbox}, ${resource} (${grade}): ${name}`,
    ours: Math.round(used / scale),
    reference: limit / scale,
    unit: isBytes ? "MiB" : resource === "time" ? "ms" : "",
    ratio: used / limit,
    goal: grade === "watched" ? null : allowed / limit,
  };
}
