import { lstatSync, type Stats } from "node:fs";
import { basename, resolve } from "node:path";
import { mountError } from "../../host/host-error.ts";
import { byPath, type FolderEntry, folderEntries } from "../folder-entries.ts";
import { ancestorsOf, checkedPath, ROOT } from "../path.ts";
import type { HostRoots } from "./host-roots.ts";
import { LinkFollower } from "./link-follower.ts";
import { MountBudget } from "./mount-budget.ts";
import type { CheckedMount } from "./mount-checks.ts";
import type { MountSource } from "./mount-source.ts";
import { type PathFilter, pathFilter } from "./path-filter.ts";
import { type PlannedFile, plannedFile } from "./planned-file.ts";
import { isSecretPath } from "./secrets.ts";

/** What all mounts of a workspace share. */
export interface MountRules {
  readonly roots: HostRoots;
  readonly allowsSecret: (path: string) => boolean;
}

/** Looks at everything that a mount brings, in the order of the code units of its paths. */
export class MountWalk {
  readonly files: PlannedFile[] = [];
  /** Paths of `files` within the mount. */
  readonly paths: string[] = [];
  /** Within the workspace: those that hold something, and those that are empty and let in. */
  readonly directories: string[] = [];
  /** Within the mount. */
  readonly withheld: string[] = [];
  readonly budget: MountBudget;
  readonly #mount: CheckedMount;
  readonly #rules: MountRules;
  readonly #filter: PathFilter;
  readonly #links: LinkFollower;
  /** The mount's path in the workspace and a slash, or nothing at its root. */
  readonly #place: string;
  #hasFollowed = false;

  constructor(mount: CheckedMount, rules: MountRules) {
    const shown = `${mount.field} ${JSON.stringify(mount.hostPath)}`;
    this.budget = new MountBudget(shown, mount.maxBytes);
    this.#mount = mount;
    this.#rules = rules;
    this.#filter = pathFilter(mount.includeGlob, mount.excludeGlob);
    this.#links = new LinkFollower(rules.roots);
    this.#place = mount.mountPath === ROOT ? "" : `${mount.mountPath}/`;
  }

  /** Fills it from where the mount's host path leads. */
  from({ hostPath, kind, isLinked }: MountSource): this {
    const { mountPath } = this.#mount;
    this.#hasFollowed = isLinked;
    this.directories.push(...ancestorsOf(mountPath));
    if (kind === "file") {
      const name = basename(resolve(this.#mount.hostPath));
      if (this.#lets(name)) this.#keep({ name, kind, hostPath }, name, mountPath);
      return this;
    }
    if (mountPath !== ROOT) this.directories.push(mountPath);
    this.#enter(hostPath, "", this.directories.length + 1);
    return this;
  }

  /** Whether something of the folder is kept. `prefix` is its path in the mount and a slash. */
  #enter(hostPath: string, prefix: string, depth: number): boolean {
    if (!this.#mount.followSymlinks) return this.#folder(hostPath, prefix, depth);
    return this.#links.within(hostPath, () => this.#folder(hostPath, prefix, depth));
  }

  #folder(hostPath: string, prefix: string, depth: number): boolean {
    const hostPrefix = hostPath.endsWith("/") ? hostPath : `${hostPath}/`;
    const remedy = `let this user read it, or name ${JSON.stringify(`${prefix}*`)} in excludeGlob`;
    const found = folderEntries(hostPrefix, remedy);
    if (found === null) return this.#gone(prefix.slice(0, -1));
    let isKept = found.length === 0 && prefix !== "" && this.#lets(prefix.slice(0, -1));
    for (const entry of this.#followed(found, prefix).sort(byPath)) {
      isKept = this.#entry(entry, prefix + entry.name, depth) || isKept;
    }
    if (isKept && prefix !== "") this.directories.push(this.#place + prefix.slice(0, -1));
    return isKept;
  }

  /** Links become what they lead to, or are left out. */
  #followed(entries: readonly FolderEntry[], prefix: string): FolderEntry[] {
    if (!this.#mount.followSymlinks) return entries.filter(({ kind }) => kind !== "link");
    return entries.flatMap((entry) => {
      const path = prefix + entry.name;
      if (entry.kind !== "link") return entry;
      if (this.#filter.excludes(path) || this.#filter.prunes(path)) return [];
      this.#hasFollowed = true;
      const target = this.#links.follow(entry.hostPath);
      return { name: entry.name, ...(target ?? { kind: "other", hostPath: entry.hostPath }) };
    });
  }

  #entry(entry: FolderEntry, path: string, depth: number): boolean {
    if (entry.kind !== "folder") {
      if (!this.#lets(path)) return false;
      this.#checkLimits(entry.name, path, depth);
      return this.#keep(entry, path, this.#place + path);
    }
    if (this.#filter.prunes(path)) return false;
    this.#checkLimits(entry.name, path, depth);
    return this.#enter(entry.hostPath, `${path}/`, depth + 1);
  }

  #lets(path: string): boolean {
    return !this.#filter.excludes(path) && this.#filter.includes(path);
  }

  /** Only what may be too long or too deep is looked at closely: it is asked for every file. */
  #checkLimits(name: string, path: string, depth: number): void {
    const surelyFits = name.length <= NAME_SURELY_FITS && depth <= DEPTH_SURELY_FITS;
    if (!surelyFits) checkedPath(this.#place + path);
  }

  #keep(entry: FolderEntry, path: string, mountPath: string): boolean {
    const stats = entry.kind === "file" ? this.#statsOf(entry.hostPath) : null;
    if (stats === undefined) return this.#gone(path);
    if (!stats?.isFile() || this.#isSecret(entry.hostPath, path, mountPath)) {
      this.withheld.push(path);
      return false;
    }
    this.budget.spend(stats.size, path);
    this.files.push(plannedFile(entry.hostPath, mountPath, stats));
    this.paths.push(path);
    return true;
  }

  #statsOf(hostPath: string): Stats | undefined {
    try {
      return lstatSync(hostPath, { throwIfNoEntry: false });
    } catch (error) {
      throw mountError(error, hostPath, "let this user read it, or name it in excludeGlob");
    }
  }

  /** Gone since its folder was read, or its name is no text: then it cannot be asked for. */
  #gone(path: string): false {
    if (path.includes("\uFFFD")) this.withheld.push(path);
    return false;
  }

  /** A link may be called otherwise than what it leads to: both names count. */
  #isSecret(hostPath: string, path: string, mountPath: string): boolean {
    const isSecret =
      isSecretPath(hostPath) ||
      (this.#hasFollowed && isSecretPath(`${this.#mount.hostPath}/${path}`));
    const { allowsSecret } = this.#rules;
    return isSecret && !allowsSecret(path) && !allowsSecret(mountPath);
  }
}

/** A code unit is at most 3 bytes of UTF-8, and a name at most 255. */
const NAME_SURELY_FITS = 85;
const DEPTH_SURELY_FITS = 64;
