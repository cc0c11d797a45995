/** An entry of a lockfile: one installed package. */
export interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The parts of a `package-lock.json` that are checked. */
export interface Lockfile {
  readonly lockfileVersion: number;
  /** Entries by path, such as `node_modules/hono`. The key of the project itself is empty. */
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** The parts of a `package.json` that are checked. */
export interface Manifest {
  readonly name?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** Returns the package's name of an entry's path. */
export function toPackageName(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** Returns the entries that users install with the package, sorted by path. */
export function listShipped({ packages }: Lockfile): readonly (readonly [string, LockEntry])[] {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== "" && isShipped(entry))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function isShipped({ dev, devOptional, optional, peer }: LockEntry): boolean {
  return !dev && !devOptional && !optional && !peer;
}
