/**
 * Compares packing and planning a workspace of 10,000 files and 60 MB with GNU tar and find, and measures the longest stall of
 * the event loop while packing.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { packDirectory, planMounts } from "weakincentives/files";
import { median } from "./median.ts";
import { compareSides, createValue } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const FOLDERS = 100;
const FILES_PER_FOLDER = 100;
const FILE_BYTES = 6_291;

/** Milliseconds of one round; `tar` and `find` are GNU's and include the start of their processes. */
interface PackRound {
  readonly pack: number;
  readonly tar: number;
  /** The longest stall of the event loop while packing. */
  readonly stall: number;
  readonly plan: number;
  readonly find: number;
}

const rounds = await measureRounds(countRounds(5));
printResult({
  figures: [
    compareSides(
      { what: "packing 10,000 files of 60 MB to GNU tar", unit: "ms", goal: 2 },
      rounds.map(({ pack, tar }) => ({ ours: pack, reference: tar })),
    ),
    compareSides(
      { what: "planning them to GNU find with the same facts", unit: "ms", goal: 3 },
      rounds.map(({ plan, find }) => ({ ours: plan, reference: find })),
    ),
    createValue(
      { what: "longest stall of the event loop while packing", unit: "ms", goal: 20 },
      median(rounds.map(({ stall }) => stall)),
    ),
  ],
});

async function measureRounds(count: number): Promise<readonly PackRound[]> {
  const folder = mkdtempSync(join(tmpdir(), "wink-bench-"));
  try {
    growTree(folder);
    await measureRound(folder); // the first round reads from the disk
    const measured: PackRound[] = [];
    for (let round = 0; round < count; round++) measured.push(await measureRound(folder));
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function growTree(folder: string): void {
  for (let outer = 0; outer < FOLDERS; outer++) {
    const inner = join(folder, `group-${outer % 10}`, `folder-${outer}`);
    mkdirSync(inner, { recursive: true });
    for (let file = 0; file < FILES_PER_FOLDER; file++) {
      const letter = String.fromCharCode(97 + ((outer + file) % 26));
      writeFileSync(join(inner, `file-${file}.txt`), letter.repeat(FILE_BYTES));
    }
  }
}

async function measureRound(folder: string): Promise<PackRound> {
  const { pack, stall } = await measurePack(folder);
  // Into a pipe: GNU tar reads no file if it writes to /dev/null.
  const tar = measure(() => run("sh", ["-c", 'tar -cf - -C "$0" . | cat > /dev/null', folder]));
  const plan = measure(() => {
    const { files } = planMounts([{ hostPath: folder }], { allowedHostRoots: [folder] });
    if (files.length !== FOLDERS * FILES_PER_FOLDER) throw new Error("not every file was planned");
  });
  const facts = "%P\\t%s\\t%m\\t%T@\\t%i\\n"; // the facts that a plan has about a file
  const find = measure(() => run("find", [folder, "-type", "f", "-printf", facts]));
  return { pack, tar, stall, plan, find };
}

async function measurePack(folder: string) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.reset();
  const before = performance.now();
  let bytes = 0;
  for await (const chunk of packDirectory(folder)) bytes += chunk.length;
  const pack = performance.now() - before;
  delay.disable();
  if (bytes < FOLDERS * FILES_PER_FOLDER * FILE_BYTES) throw new Error("not every byte was packed");
  return { pack, stall: delay.max / 1e6 };
}

function measure(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}
