import { realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { styleText } from "node:util";
import { globMatcher } from "../files/filesystem/glob.ts";
import { type EntryKind, readFolderEntries } from "../files/folder-entries.ts";
import type { MountPlan } from "../files/mounts/mount-plan.ts";
import { pathFilter } from "../files/mounts/path-filter.ts";
import { planMounts } from "../files/mounts/plan-mounts.ts";
import { toMountFlagError } from "./to-flag-error.ts";

/** Options of `wink mount`. */
export interface MountOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxBytes?: number | undefined;
  readonly followSymlinks: boolean;
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
  readonly withheld: readonly { readonly path: string; readonly reason: string }[];
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
export function mount(path: string, options: MountOptions): void {
  const plan = createMountReport(path, options);
  if (options.json) console.log(JSON.stringify(plan, null, 2));
  else for (const line of formatReport(plan)) console.log(line);
}

function createMountReport(path: string, options: MountOptions): MountReport {
  const { include, exclude, maxBytes, followSymlinks, allowSecret } = options;
  const mountPath = basename(resolve(path)) || "."; // the root of a disk has no name
  const globs = { includeGlob: include, excludeGlob: exclude };
  let plan: MountPlan;
  try {
    plan = planMounts([{ hostPath: path, mountPath, ...globs, maxBytes, followSymlinks }], {
      allowedHostRoots: [path], // symlinks may point anywhere below it, but not outside
      allowSecrets: allowSecret,
    });
  } catch (error) {
    throw toMountFlagError(error);
  }
  const place = realpathSync.native(path);
  const isFile = statSync(place).isFile();
  const prefix = isFile || mountPath === "." ? 0 : mountPath.length + 1;
  const entries = plan.files.map(({ mountPath: at, bytes }) => ({ path: at.slice(prefix), bytes }));
  const withheld = plan.previews.flatMap((preview) =>
    preview.withheld.map((at) => ({
      path: at,
      reason: describeWithheld(isFile ? place : join(place, at)),
    })),
  );
  const taken = new Set([...entries, ...withheld].map(({ path: at }) => at));
  const { prunes } = pathFilter(include, exclude);
  const found: FoundEntry[] = isFile
    ? [{ path: mountPath, kind: "file" }]
    : [...walkFolder(place, prunes)];
  const leftOut = countOmitted(
    found.filter(({ path: at }) => !taken.has(at)),
    options,
  );
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return {
    ...{ hostPath: place, mountPath, files: entries.length, bytes },
    ...{ entries, withheld, leftOut },
  };
}

const KEY_FILE = "has a name that is common for key files";

/** Returns why a file that the globs match is not mounted. */
function describeWithheld(hostPath: string): string {
  const stats = statSync(hostPath, { throwIfNoEntry: false });
  if (stats?.isFile()) return KEY_FILE;
  if (stats?.isFIFO()) return "is a pipe";
  if (stats) return stats.isSocket() ? "is a socket" : "is a device";
  return hostPath.includes("\uFFFD") ? "has a name that is not valid text" : "is a broken symlink";
}

/** A file below a folder, or a folder that does not need to be searched. */
interface FoundEntry {
  readonly path: string;
  readonly kind: EntryKind;
}

function* walkFolder(
  folder: string,
  prunes: (path: string) => boolean,
  prefix = "",
): Generator<FoundEntry> {
  for (const { name, kind, hostPath } of readFolderEntries(
    `${folder}/`,
    "give this user read access",
  ) ?? []) {
    const path = prefix + name;
    if (kind === "folder" && !prunes(path)) yield* walkFolder(hostPath, prunes, `${path}/`);
    else yield { path, kind };
  }
}

function countOmitted(found: readonly FoundEntry[], options: MountOptions): MountReport["leftOut"] {
  const { include, exclude, followSymlinks } = options;
  const unwanted = exclude.map((glob) => ({ glob, matches: globMatcher(glob) }));
  const counts = new Map<string, { files: number; folders: number }>();
  for (const { path, kind } of found) {
    const by = findRule(path, kind);
    if (by === null) continue;
    const count = counts.get(by) ?? { files: 0, folders: 0 };
    count[kind === "folder" ? "folders" : "files"] += 1;
    counts.set(by, count);
  }
  return [...counts].map(([by, count]) => ({ by, ...count }));

  function findRule(path: string, kind: EntryKind): string | null {
    if (kind === "link" && !followSymlinks) return "symlinks need --follow-symlinks";
    const names = kind === "folder" || kind === "link" ? [path, `${path}/x`] : [path];
    const by = unwanted.find(({ matches }) => names.some(matches));
    if (by) return `--exclude ${JSON.stringify(by.glob)}`;
    // A followed symlink to a folder is not counted, because its files were.
    return include.length > 0 ? "not matched by --include" : null;
  }
}

const MAX_ENTRIES = 20;

function* formatReport({ hostPath, mountPath, entries, ...shown }: MountReport): Generator<string> {
  const { files, bytes, withheld, leftOut } = shown;
  const title = `${escapeControls(mountPath)}: ${pluralize(files, "file")}, ${pluralize(bytes, "byte")}`;
  yield `${bold(title)} from ${escapeControls(hostPath)}`;
  for (const { path, bytes: size } of entries.slice(0, MAX_ENTRIES)) {
    yield `  ${escapeControls(path)} ${dim(formatNumber(size))}`;
  }
  const more = entries.length - MAX_ENTRIES;
  if (more > 0) yield `  … and ${formatNumber(more)} more (use --json to list all)`;
  const hasKeys = withheld.some(({ reason }) => reason === KEY_FILE);
  const hint = hasKeys ? " (use --allow-secret PATH to mount a key file)" : "";
  if (withheld.length > 0) yield `\n${bold("Withheld")}${hint}`;
  for (const { path, reason } of withheld) yield `  ${escapeControls(path)} ${dim(reason)}`;
  if (leftOut.length > 0) yield `\n${bold("Omitted")}`;
  for (const { by, ...count } of leftOut) yield `  ${formatCount(count)}: ${escapeControls(by)}`;
  yield "\nNothing was copied or sent.";
}

function formatCount({ files, folders }: Omit<LeftOut, "by">): string {
  const whole = folders === 0 ? [] : [`${pluralize(folders, "folder")} with all contents`];
  return [...(files === 0 ? [] : [pluralize(files, "file")]), ...whole].join(", ");
}

function pluralize(count: number, what: string): string {
  return `${formatNumber(count)} ${what}${count === 1 ? "" : "s"}`;
}

function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/** Escapes control characters, which a terminal would interpret. */
function escapeControls(text: string): string {
  return text.replace(/\p{C}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
