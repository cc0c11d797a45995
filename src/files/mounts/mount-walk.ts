import { lstatSync, type Stats } from "node:fs";
import { basename, resolve } from "node:path";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { compareByPath, type FolderEntry, readFolderEntries } from "../folder-entries.ts";
import { listAncestors, normalizePath, ROOT } from "../path.ts";
import type { HostRoots } from "./host-roots.ts";
import { LinkFollower } from "./link-follower.ts";
import { MountBudget } from "./mount-budget.ts";
import type { CheckedMount } from "./mount-checks.ts";
import type { MountSource } from "./mount-source.ts";
import { type PathFilter, pathFilter } from "./path-filter.ts";
import { createPlannedFile, type PlannedFile } from "./planned-file.ts";
import { isSecretFile } from "./secret-files.ts";

/** The rules that all mounts of a workspace share. */
export interface MountRules {
  readonly roots: HostRoots;
  readonly allowsSecret: (path: string) => boolean;
}

/** Walks a mount and visits its files in code unit order of their paths. */
export class MountWalk {
  readonly files: PlannedFile[] = [];
  /** The paths of `files` within the mount. */
  readonly paths: string[] = [];
  /** The folders in the workspace: those with included files, and empty folders that the globs include. */
  readonly directories: string[] = [];
  /** The paths of omitted files within the mount. */
  readonly withheld: string[] = [];
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
    this.#mount = mount;
    this.#rules = rules;
    this.#filter = pathFilter(mount.includeGlob, mount.excludeGlob);
    this.#links = new LinkFollower(rules.roots);
    this.#mountPrefix = mount.mountPath === ROOT ? "" : `${mount.mountPath}/`;
  }

  /** Walks the source of the mount and returns this object. */
  walkFrom({ hostPath, kind, isLinked }: MountSource): this {
    const { mountPath } = this.#mount;
    this.#hasFollowedLinks = isLinked;
    this.directories.push(...listAncestors(mountPath));
    if (kind === "file") {
      const name = basename(resolve(this.#mount.hostPath));
      if (this.#isIncluded(name)) this.#addFile({ name, kind, hostPath }, name, mountPath);
      return this;
    }
    if (mountPath !== ROOT) this.directories.push(mountPath);
    this.#enter(hostPath, "", this.directories.length + 1);
    return this;
  }

  /** Walks a folder and returns whether it is included. `prefix` is its path in the mount and a slash. */
  #enter(hostPath: string, prefix: string, depth: number): boolean {
    if (!this.#mount.followSymlinks) return this.#walkFolder(hostPath, prefix, depth);
    return this.#links.enter(hostPath, () => this.#walkFolder(hostPath, prefix, depth));
  }

  #walkFolder(hostPath: string, prefix: string, depth: number): boolean {
    const hostPrefix = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
    const remedy = `make it readable, or add ${JSON.stringify(`${prefix}*`)} to excludeGlob`;
    const found = readFolderEntries(hostPrefix, remedy);
    if (found === null) return this.#skipVanished(prefix.slice(0, -1));
    let isKept = found.length === 0 && prefix !== "" && this.#isIncluded(prefix.slice(0, -1));
    for (const entry of this.#resolveLinks(found, prefix).sort(compareByPath)) {
      isKept = this.#visitEntry(entry, prefix + entry.name, depth) || isKept;
    }
    if (isKept && prefix !== "") this.directories.push(this.#mountPrefix + prefix.slice(0, -1));
    return isKept;
  }

  /** Replaces symlinks by their targets, or omits them. */
  #resolveLinks(entries: readonly FolderEntry[], prefix: string): FolderEntry[] {
    if (!this.#mount.followSymlinks) return entries.filter(({ kind }) => kind !== "link");
    return entries.flatMap((entry) => {
      const path = prefix + entry.name;
      if (entry.kind !== "link") return entry;
      if (this.#filter.excludes(path) || this.#filter.prunes(path)) return [];
      this.#hasFollowedLinks = true;
      const target = this.#links.follow(entry.hostPath);
      return { name: entry.name, ...(target ?? { kind: "other", hostPath: entry.hostPath }) };
    });
  }

  #visitEntry(entry: FolderEntry, path: string, depth: number): boolean {
    if (entry.kind !== "folder") {
      if (!this.#isIncluded(path)) return false;
      this.#checkLimits(entry.name, path, depth);
      return this.#addFile(entry, path, this.#mountPrefix + path);
    }
    if (this.#filter.prunes(path)) return false;
    this.#checkLimits(entry.name, path, depth);
    return this.#enter(entry.hostPath, `${path}/`, depth + 1);
  }

  #isIncluded(path: string): boolean {
    return !this.#filter.excludes(path) && this.#filter.includes(path);
  }

  /** Throws if a path is too long or too deep. Skips the full check for paths that surely fit, because it runs for every file. */
  #checkLimits(name: string, path: string, depth: number): void {
    const surelyFits = name.length <= SAFE_NAME_LENGTH && depth <= SAFE_DEPTH;
    if (!surelyFits) normalizePath(this.#mountPrefix + path);
  }

  #addFile(entry: FolderEntry, path: string, mountPath: string): boolean {
    const stats = entry.kind === "file" ? this.#readStats(entry.hostPath) : null;
    if (stats === undefined) return this.#skipVanished(path);
    if (!stats?.isFile() || this.#isSecret(entry.hostPath, path, mountPath)) {
      this.withheld.push(path);
      return false;
    }
    this.budget.spend(stats.size, path);
    this.files.push(createPlannedFile(entry.hostPath, mountPath, stats));
    this.paths.push(path);
    return true;
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
    if (path.includes("\uFFFD")) this.withheld.push(path);
    return false;
  }

  /** Whether a file is a withheld secret. Checks the symlink's name and the target's name. */
  #isSecret(hostPath: string, path: string, mountPath: string): boolean {
    const isSecret =
      isSecretFile(hostPath) ||
      (this.#hasFollowedLinks && isSecretFile(`${this.#mount.hostPath}/${path}`));
    const { allowsSecret } = this.#rules;
    return isSecret && !allowsSecret(path) && !allowsSecret(mountPath);
  }
}

/** A code unit has at most 3 bytes in UTF-8, and a name at most 255. */
const SAFE_NAME_LENGTH = 85;
const SAFE_DEPTH = 64;
