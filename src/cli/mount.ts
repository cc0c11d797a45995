import { lstatSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { styleText } from "node:util";
import type { MountPlan } from "../files/mounts/mount-plan.ts";
import { planMounts } from "../files/mounts/plan-mounts.ts";
import { findKeyFiles } from "../files/mounts/secrets/find-key-files.ts";
import { type WithheldFile, withWithheld } from "../files/mounts/secrets/withheld-file.ts";
import type { SkippedEntry } from "../files/mounts/skipped-entries.ts";
import { escapeControls } from "./escape-controls.ts";
import { formatNumber, pluralize } from "./pluralize.ts";
import { ProgressLine, type Terminal } from "./progress-line.ts";
import { toMountFlagError } from "./to-flag-error.ts";

/** Options of `wink mount`. */
export interface MountOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxBytes?: number | undefined;
  readonly followSymlinks: boolean;
  readonly gitignore: boolean;
  readonly allowSecret: readonly string[];
  readonly json: boolean;
}

/** The plan of a mount, as printed by `wink mount --json`. Paths are relative to the mount. */
export interface MountReport {
  readonly hostPath: string;
  /** Path of the mount in the workspace. */
  readonly mountPath: string;
  readonly files: number;
  readonly bytes: number;
  readonly entries: readonly { readonly path: string; readonly bytes: number }[];
  /** Files that match the globs and are not mounted. */
  readonly withheld: readonly SkippedEntry[];
  /** Everything that is not mounted. A folder includes its contents. */
  readonly skipped: readonly SkippedEntry[];
  /** Globs that match nothing. */
  readonly unmatched: readonly string[];
  /**
   * Number of omitted files and folders per rule. The content of folders omitted as a whole is not
   * counted.
   */
  readonly leftOut: readonly LeftOut[];
}

/** Number of files and folders that one rule omits. */
export interface LeftOut {
  readonly by: string;
  /** Files, including symlinks. */
  readonly files: number;
  /** Folders that are omitted as a whole. */
  readonly folders: number;
}

/** Prints which files a workspace would mount. Does not copy or send files. */
export function mount(
  path: string,
  options: MountOptions,
  terminal: Terminal = process.stderr,
): void {
  const progress = new ProgressLine(terminal);
  progress.show("Reading the folder …");
  let report: MountReport;
  try {
    report = createMountReport(path, options);
  } finally {
    progress.clear();
  }
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else for (const line of formatReport(report, options)) console.log(line);
}

function createMountReport(path: string, options: MountOptions): MountReport {
  const { include, exclude, maxBytes, followSymlinks, gitignore, allowSecret } = options;
  const mountPath = basename(resolve(path)) || "."; // the root of a disk has no name
  const globs = { includeGlob: include, excludeGlob: exclude };
  const given = { hostPath: path, mountPath, ...globs, maxBytes, followSymlinks, gitignore };
  let plan: MountPlan;
  let keys: readonly WithheldFile[];
  try {
    plan = planMounts([given], {
      allowedHostRoots: [path], // symlinks may point anywhere below it, but not outside
      allowSecrets: allowSecret,
      maxSkipped: Infinity,
    });
    keys = findKeyFiles(plan.files);
  } catch (error) {
    throw toMountFlagError(error);
  }
  const place = realpathSync.native(path);
  const isFile = statSync(place).isFile();
  const prefix = isFile || mountPath === "." ? 0 : mountPath.length + 1;
  const sizes = new Map(plan.files.map(({ mountPath: at, bytes }) => [at, bytes]));
  const [preview] = withWithheld(plan.previews, keys, (at) => sizes.get(at) ?? 0);
  for (const { path: at } of keys) sizes.delete(at);
  const entries = Array.from(sizes, ([at, bytes]) => ({ path: at.slice(prefix), bytes }));
  const skipped = (preview?.skipped ?? []).map(toFlagReason);
  const isWithheld = new Set(preview?.withheld);
  const isFolder = (at: string) =>
    !isFile && (lstatSync(join(place, at), { throwIfNoEntry: false })?.isDirectory() ?? false);
  return {
    ...{ hostPath: place, mountPath, files: entries.length, bytes: preview?.bytes ?? 0 },
    entries,
    withheld: skipped.filter((one) => isWithheld.has(one.path)),
    skipped,
    unmatched: preview?.unmatched ?? [],
    leftOut: countOmitted(
      skipped.filter((one) => !isWithheld.has(one.path)),
      isFolder,
    ),
  };
}

/** Describes a reason in terms of the flags of `wink mount`. */
function toFlagReason({ path, reason }: SkippedEntry): SkippedEntry {
  const [, glob] = /^matches excludeGlob (.*)$/s.exec(reason) ?? [];
  if (glob !== undefined) return { path, reason: `matches --exclude ${glob}` };
  return { path, reason: reason === NOT_INCLUDED ? "does not match --include" : reason };
}

const NOT_INCLUDED = "does not match includeGlob";

function countOmitted(
  omitted: readonly SkippedEntry[],
  isFolder: (path: string) => boolean,
): readonly LeftOut[] {
  const counts = new Map<string, { files: number; folders: number }>();
  for (const { path, reason } of omitted) {
    const by = toRule(reason);
    const count = counts.get(by) ?? { files: 0, folders: 0 };
    count[isFolder(path) ? "folders" : "files"] += 1;
    counts.set(by, count);
  }
  return Array.from(counts, ([by, count]) => ({ by, ...count }));
}

function toRule(reason: string): string {
  if (reason === "is a symlink") return "symlinks need --follow-symlinks";
  if (reason === "does not match --include") return "not matched by --include";
  return reason.replace(/^matches (?=--exclude )/, "").replace(/^is (?=ignored by )/, "");
}

const MAX_ENTRIES = 20;
const MAX_EXAMPLES = 5;

function* formatReport(report: MountReport, options: MountOptions): Generator<string> {
  const { hostPath, mountPath, entries, files, bytes, withheld, unmatched } = report;
  const title = `${escapeControls(mountPath)}: ${pluralize(files, "file")}, ${pluralize(bytes, "byte")}`;
  yield `${bold(title)} from ${escapeControls(hostPath)}`;
  const lines = entries.map((one) => `${escapeControls(one.path)} ${dim(formatNumber(one.bytes))}`);
  yield* limitLines(lines, MAX_ENTRIES, "  ");
  const hasKeys = withheld.some(({ reason }) => /key files$|^contains /.test(reason));
  const hint = hasKeys ? " (use --allow-secret PATH to mount a key file)" : "";
  if (withheld.length > 0) yield `\n${bold("Withheld")}${hint}`;
  for (const { path, reason } of withheld) yield `  ${escapeControls(path)} ${dim(reason)}`;
  yield* formatOmitted(report);
  if (unmatched.length > 0) yield `\n${bold("Globs without a match")}`;
  for (const glob of unmatched) {
    const flag = options.include.includes(glob) ? "--include" : "--exclude";
    yield `  ${flag} ${escapeControls(JSON.stringify(glob))}`;
  }
  yield "\nNothing was copied or sent.";
}

function* formatOmitted({ leftOut, skipped, withheld }: MountReport): Generator<string> {
  if (leftOut.length > 0) yield `\n${bold("Omitted")}`;
  const others = new Set(withheld);
  for (const { by, ...count } of leftOut) {
    yield `  ${formatCount(count)}: ${escapeControls(by)}`;
    const omitted = skipped.filter((one) => !others.has(one) && toRule(one.reason) === by);
    const lines = omitted.map(({ path }) => dim(escapeControls(path)));
    yield* limitLines(lines, MAX_EXAMPLES, "    ");
  }
}

/** Yields the first lines, and the number of the others. */
function* limitLines(lines: readonly string[], limit: number, indent: string): Generator<string> {
  for (const line of lines.slice(0, limit)) yield indent + line;
  const more = lines.length - limit;
  if (more > 0) yield `${indent}… and ${formatNumber(more)} more (use --json to list all)`;
}

function formatCount({ files, folders }: Omit<LeftOut, "by">): string {
  const whole = folders === 0 ? [] : [`${pluralize(folders, "folder")} with all contents`];
  return [...(files === 0 ? [] : [pluralize(files, "file")]), ...whole].join(", ");
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
