import { realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { styleText } from "node:util";
import { globMatcher } from "../files/filesystem/glob.ts";
import { type EntryKind, folderEntries } from "../files/folder-entries.ts";
import { planMounts } from "../files/mounts/mount-plan.ts";
import { pathFilter } from "../files/mounts/path-filter.ts";
import type { MountPlan } from "../files/mounts/planned-mounts.ts";
import { inMountFlags } from "./flags.ts";

/** What `wink mount` was told. */
export interface MountOptions {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxBytes?: number | undefined;
  readonly followSymlinks: boolean;
  readonly allowSecret: readonly string[];
  readonly json: boolean;
}

/** What a mount would bring, as `wink mount --json` prints it. Paths are within the mount. */
export interface ShownMount {
  readonly hostPath: string;
  /** Where it would be in the workspace. */
  readonly mountPath: string;
  readonly files: number;
  readonly bytes: number;
  readonly entries: readonly { readonly path: string; readonly bytes: number }[];
  /** Let in by the globs, and still not taken. */
  readonly withheld: readonly { readonly path: string; readonly reason: string }[];
  /** How much is left out, and by what. What folders hold that are left out whole is not counted. */
  readonly leftOut: readonly LeftOut[];
}

/** What one rule leaves out. */
export interface LeftOut {
  readonly by: string;
  /** Symlinks among them. */
  readonly files: number;
  /** Those that are left out whole. */
  readonly folders: number;
}

/** Shows what a workspace would take of a folder or file; nothing is copied or sent. */
export function mount(path: string, options: MountOptions): void {
  const shown = look(path, options);
  if (options.json) console.log(JSON.stringify(shown, null, 2));
  else for (const line of report(shown)) console.log(line);
}

function look(path: string, options: MountOptions): ShownMount {
  const { include, exclude, maxBytes, followSymlinks, allowSecret } = options;
  const mountPath = basename(resolve(path)) || "."; // the root of a disk has no name
  const globs = { includeGlob: include, excludeGlob: exclude };
  let plan: MountPlan;
  try {
    plan = planMounts([{ hostPath: path, mountPath, ...globs, maxBytes, followSymlinks }], {
      allowedHostRoots: [path], // symlinks may lead anywhere below it, and not out of it
      allowSecrets: allowSecret,
    });
  } catch (error) {
    throw inMountFlags(error);
  }
  const place = realpathSync.native(path);
  const isFile = statSync(place).isFile();
  const prefix = isFile || mountPath === "." ? 0 : mountPath.length + 1;
  const entries = plan.files.map(({ mountPath: at, bytes }) => ({ path: at.slice(prefix), bytes }));
  const withheld = plan.previews.flatMap((preview) =>
    preview.withheld.map((at) => ({
      path: at,
      reason: reasonOf(isFile ? place : join(place, at)),
    })),
  );
  const taken = new Set([...entries, ...withheld].map(({ path: at }) => at));
  const { prunes } = pathFilter(include, exclude);
  const found: Found[] = isFile ? [{ path: mountPath, kind: "file" }] : [...below(place, prunes)];
  const leftOut = leftOutBy(
    found.filter(({ path: at }) => !taken.has(at)),
    options,
  );
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return {
    ...{ hostPath: place, mountPath, files: entries.length, bytes },
    ...{ entries, withheld, leftOut },
  };
}

const KEY_FILE = "is named as files are that keys are kept in";

/** Why something that the globs let in is not taken. */
function reasonOf(hostPath: string): string {
  const stats = statSync(hostPath, { throwIfNoEntry: false });
  if (stats?.isFile()) return KEY_FILE;
  if (stats?.isFIFO()) return "is a pipe";
  if (stats) return stats.isSocket() ? "is a socket" : "is a device";
  return hostPath.includes("\uFFFD")
    ? "has a name that is no text"
    : "is a symlink that leads nowhere";
}

/** What stands below a folder and is no folder itself, or is one that need not be looked into. */
interface Found {
  readonly path: string;
  readonly kind: EntryKind;
}

function* below(folder: string, prunes: (path: string) => boolean, prefix = ""): Generator<Found> {
  for (const { name, kind, hostPath } of folderEntries(`${folder}/`, "let this user read it") ??
    []) {
    const path = prefix + name;
    if (kind === "folder" && !prunes(path)) yield* below(hostPath, prunes, `${path}/`);
    else yield { path, kind };
  }
}

function leftOutBy(found: readonly Found[], options: MountOptions): ShownMount["leftOut"] {
  const { include, exclude, followSymlinks } = options;
  const unwanted = exclude.map((glob) => ({ glob, matches: globMatcher(glob) }));
  const counts = new Map<string, { files: number; folders: number }>();
  for (const { path, kind } of found) {
    const by = reason(path, kind);
    if (by === null) continue;
    const count = counts.get(by) ?? { files: 0, folders: 0 };
    count[kind === "folder" ? "folders" : "files"] += 1;
    counts.set(by, count);
  }
  return [...counts].map(([by, count]) => ({ by, ...count }));

  function reason(path: string, kind: EntryKind): string | null {
    if (kind === "link" && !followSymlinks)
      return "symlinks are not followed without --follow-symlinks";
    const names = kind === "folder" || kind === "link" ? [path, `${path}/x`] : [path];
    const by = unwanted.find(({ matches }) => names.some(matches));
    if (by) return `--exclude ${JSON.stringify(by.glob)}`;
    // A symlink to a folder that is followed: its files were looked at one by one.
    return include.length > 0 ? "no --include has it" : null;
  }
}

const MOST_ENTRIES = 20;

function* report({ hostPath, mountPath, entries, ...shown }: ShownMount): Generator<string> {
  const { files, bytes, withheld, leftOut } = shown;
  const title = `${printable(mountPath)}: ${many(files, "file")}, ${many(bytes, "byte")}`;
  yield `${bold(title)}, from ${printable(hostPath)}`;
  for (const { path, bytes: size } of entries.slice(0, MOST_ENTRIES)) {
    yield `  ${printable(path)} ${dim(number(size))}`;
  }
  const more = entries.length - MOST_ENTRIES;
  if (more > 0) yield `  … and ${number(more)} more (--json lists all)`;
  const hasKeys = withheld.some(({ reason }) => reason === KEY_FILE);
  const hint = hasKeys ? " (--allow-secret, with its path, lets a key file in)" : "";
  if (withheld.length > 0) yield `\n${bold("Withheld")}${hint}`;
  for (const { path, reason } of withheld) yield `  ${printable(path)} ${dim(reason)}`;
  if (leftOut.length > 0) yield `\n${bold("Left out")}`;
  for (const { by, ...count } of leftOut) yield `  ${amount(count)}: ${printable(by)}`;
  yield "\nNothing was copied or sent.";
}

function amount({ files, folders }: Omit<LeftOut, "by">): string {
  const whole = folders === 0 ? [] : [`${many(folders, "folder")} with all below`];
  return [...(files === 0 ? [] : [many(files, "file")]), ...whole].join(", ");
}

function many(count: number, what: string): string {
  return `${number(count)} ${what}${count === 1 ? "" : "s"}`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

/** A name may hold what a terminal would obey. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

// `styleText` leaves colour out by itself when the stream is no terminal, or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
