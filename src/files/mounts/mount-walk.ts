import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { compareByPath, type FolderEntry, readFolderEntries } from "../folder-entries.ts";
import { listAncestors, normalizePath, ROOT } from "../path.ts";
import { type Gitignore, readGitignore } from "./gitignore.ts";
import type { HostRoots } from "./host-roots.ts";
import { LinkFollower } from "./link-follower.ts";
import { MountBudget } from "./mount-budget.ts";
import type { CheckedMount } from "./mount-checks.ts";
import type { MountSource } from "./mount-source.ts";
import { type PathFilter, pathFilter } from "./path-filter.ts";
import { createPlannedFile, type PlannedFile } from "./planned-file.ts";
import { isSecretFile } from "./secrets/secret-files.ts";
import { SkippedEntries } from "./skipped-entries.ts";

/** The rules that all mounts of a workspace share. */
export interface MountRules {
  readonly roots: HostRoots;
  readonly allowsSecret: (path: string) => boolean;
  /** The maximum number of entries that `skipped` lists. */
  readonly maxSkipped: number;
}

/** A folder that the walk is in. */
interface WalkedFolder {
  readonly hostPath: string;
  /** The folder's path in the mount and a slash, or `""` for the mount itself. */
  readonly prefix: string;
  readonly depth: number;
  /** Whether the globs include everything in the folder that they do not exclude. */
  readonly isIncluded: boolean;
  readonly gitignore: Gitignore | null;
}

/** Walks a mount and visits its files in code unit order of their paths. */
export class MountWalk {
  readonly files: PlannedFile[] = [];
  /** The paths of `files` within the mount. */
  readonly paths: string[] = [];
  /** The folders in the workspace: those with included files, and empty folders that the globs include. */
  readonly directories: string[] = [];
  /** The paths of files within the mount that the globs include and that are omitted. */
  readonly withheld: string[] = [];
  /** All omitted entries. */
  readonly skipped: SkippedEntries;
  readonly budget: MountBudget;
  readonly #mount: CheckedMount;
  readonly #rules: MountRules;
  readonly #filter: PathFilter;
  readonly #links: LinkFollower;
  /** The mount's path in the workspace and a slash, or `""` for the root. */
  readonly #mountPrefix: string;
  #hasFollowedLinks = false;

  constructor(mount: CheckedMount, rules: MountRules) {
    const shown = `${mount.field} ${JSON.stringify(mount.hostPath)}`;
    this.budget = new MountBudget(shown, mount.maxBytes);
    this.skipped = new SkippedEntries(rules.maxSkipped);
    this.#mount = mount;
    this.#rules = rules;
    this.#filter = pathFilter(mount.includeGlob, mount.excludeGlob);
    this.#links = new LinkFollower(rules.roots);
    this.#mountPrefix = mount.mountPath === ROOT ? "" : `${mount.mountPath}/`;
  }

  /** The globs that matched no entry. */
  get unmatched(): readonly string[] {
    return this.#filter.listUnmatched();
  }

  /** Walks the source of the mount and returns this object. */
  walkFrom({ hostPath, kind, isLinked }: MountSource): this {
    const { mountPath, includeGlob } = this.#mount;
    this.#hasFollowedLinks = isLinked;
    this.directories.push(...listAncestors(mountPath));
    const folder = { prefix: "", depth: 0, isIncluded: includeGlob.length === 0 };
    if (kind === "file") {
      const name = basename(resolve(this.#mount.hostPath));
      const parent = dirname(hostPath);
      const gitignore = this.#mount.gitignore ? readGitignore(parent).enter(parent, "") : null;
      const entry = { name, kind, hostPath };
      if (
        this.#applyFilters(entry, name, { ...folder, hostPath: parent, gitignore }) === "included"
      ) {
        this.#addFile(entry, name, mountPath);
      }
      return this;
    }
    if (mountPath !== ROOT) this.directories.push(mountPath);
    const depth = this.directories.length + 1;
    const gitignore = this.#mount.gitignore ? readGitignore(hostPath) : null;
    this.#enter({ ...folder, hostPath, depth, gitignore });
    return this;
  }

  /** Walks a folder and returns whether it is included. */
  #enter(folder: WalkedFolder): boolean {
    if (!this.#mount.followSymlinks) return this.#walkFolder(folder);
    return this.#links.enter(folder.hostPath, () => this.#walkFolder(folder));
  }

  #walkFolder(given: WalkedFolder): boolean {
    const { hostPath, prefix, isIncluded } = given;
    const hostPrefix = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
    const remedy = `make it readable, or add ${JSON.stringify(`${prefix}*`)} to excludeGlob`;
    const found = readFolderEntries(hostPrefix, remedy);
    if (found === null) return this.#skipVanished(prefix.slice(0, -1));
    const folder = this.#readRules(given, found);
    let isKept = found.length === 0 && prefix !== "" && isIncluded;
    for (const entry of this.#resolveLinks(found, prefix).sort(compareByPath)) {
      isKept = this.#visitEntry(entry, folder) || isKept;
    }
    if (isKept && prefix !== "") this.directories.push(this.#mountPrefix + prefix.slice(0, -1));
    return isKept;
  }

  /** Adds the rules of the folder's own `.gitignore`. */
  #readRules(folder: WalkedFolder, entries: readonly FolderEntry[]): WalkedFolder {
    const { gitignore, hostPath, prefix } = folder;
    if (!gitignore || !entries.some(({ name }) => name === ".gitignore")) return folder;
    return { ...folder, gitignore: gitignore.enter(hostPath, prefix) };
  }

  /** Replaces symlinks by their targets if they are followed and not excluded. */
  #resolveLinks(entries: readonly FolderEntry[], prefix: string): FolderEntry[] {
    if (!this.#mount.followSymlinks) return [...entries];
    return entries.map((entry) => {
      if (entry.kind !== "link") return entry;
      if (this.#filter.findExclusion(prefix + entry.name, true) !== null) return entry;
      this.#hasFollowedLinks = true;
      const target = this.#links.follow(entry.hostPath);
      return { name: entry.name, ...(target ?? { kind: "other", hostPath: entry.hostPath }) };
    });
  }

  #visitEntry(entry: FolderEntry, folder: WalkedFolder): boolean {
    const path = folder.prefix + entry.name;
    const outcome = this.#applyFilters(entry, path, folder);
    if (outcome === "skipped") return false;
    this.#checkLimits(entry.name, path, folder.depth);
    if (entry.kind !== "folder") return this.#addFile(entry, path, this.#mountPrefix + path);
    return this.#enter({
      hostPath: entry.hostPath,
      prefix: `${path}/`,
      depth: folder.depth + 1,
      isIncluded: outcome === "included",
      gitignore: folder.gitignore,
    });
  }

  /** Applies globs, `.gitignore` files and `followSymlinks`. A folder that is not included may contain files that are. */
  #applyFilters(
    { name, kind }: FolderEntry,
    path: string,
    { isIncluded: isFolderIncluded, gitignore }: WalkedFolder,
  ): "included" | "searched" | "skipped" {
    const isFolder = kind === "folder" || kind === "link"; // a symlink may lead to a folder
    const isIncluded = this.#filter.includes(path, isFolder) || isFolderIncluded;
    const exclusion = this.#filter.findExclusion(path, isFolder);
    if (exclusion !== null) {
      return this.#skipFiltered(path, `matches excludeGlob ${JSON.stringify(exclusion)}`);
    }
    if (gitignore && name === ".git") return this.#skipFiltered(path, "belongs to git");
    const ignoring = gitignore?.findIgnoring(path, kind === "folder") ?? null;
    if (ignoring !== null) return this.#skipFiltered(path, `is ignored by ${ignoring}`);
    if (kind === "link") {
      this.skipped.addUnasked(path, "is a symlink");
      return "skipped";
    }
    if (isIncluded) return "included";
    return isFolder ? "searched" : this.#skipFiltered(path, "does not match includeGlob");
  }

  #skipFiltered(path: string, reason: string): "skipped" {
    this.skipped.addFiltered(path, reason);
    return "skipped";
  }

  /** Throws if a path is too long or too deep. Skips the full check for paths that surely fit, because it runs for every file. */
  #checkLimits(name: string, path: string, depth: number): void {
    const surelyFits = name.length <= SAFE_NAME_LENGTH && depth <= SAFE_DEPTH;
    if (!surelyFits) normalizePath(this.#mountPrefix + path);
  }

  #addFile(entry: FolderEntry, path: string, mountPath: string): boolean {
    const stats = this.#readStats(entry.hostPath);
    if (stats === undefined) return this.#skipVanished(path);
    if (!stats.isFile()) return this.#withhold(path, describeSpecialFile(stats));
    const { hostPath } = entry;
    const isAllowed = this.#rules.allowsSecret(path) || this.#rules.allowsSecret(mountPath);
    if (!isAllowed && this.#hasSecretName(hostPath, path)) return this.#withhold(path, SECRET_FILE);
    this.budget.spend(stats.size, path);
    this.files.push(createPlannedFile({ hostPath, mountPath }, stats, isAllowed));
    this.paths.push(path);
    return true;
  }

  #withhold(path: string, reason: string): false {
    this.withheld.push(path);
    this.skipped.addUnasked(path, reason);
    return false;
  }

  #readStats(hostPath: string): Stats | undefined {
    try {
      return lstatSync(hostPath, { throwIfNoEntry: false });
    } catch (error) {
      throw toFilesystemErrorWithRemedy(
        error,
        hostPath,
        "make it readable, or add it to excludeGlob",
      );
    }
  }

  /** Skips an entry that vanished since its folder was read. A name that is not UTF-8 cannot be opened and is withheld. */
  #skipVanished(path: string): false {
    return path.includes("\uFFFD") && this.#withhold(path, "has a name that is not valid UTF-8");
  }

  /** Whether a file has the name of a secret. Checks the symlink's name and the target's name. */
  #hasSecretName(hostPath: string, path: string): boolean {
    if (isSecretFile(hostPath)) return true;
    return this.#hasFollowedLinks && isSecretFile(`${this.#mount.hostPath}/${path}`);
  }
}

/** A code unit has at most 3 bytes in UTF-8, and a name at most 255. */
const SAFE_NAME_LENGTH = 85;
const SAFE_DEPTH = 64;

const SECRET_FILE = "has a name that is common for key files";

/** Returns why an entry that is neither a file nor a folder is omitted. */
function describeSpecialFile(stats: Stats): string {
  if (stats.isFIFO()) return "is a pipe";
  if (stats.isSocket()) return "is a socket";
  return stats.isSymbolicLink() ? "is a broken symlink" : "is a device";
}
