import { type LockEntry, type Lockfile, type Manifest, toPackageName } from "./lockfile.ts";

/**
 * Returns why a lockfile does not fix what is installed: an entry without a SHA-512 hash, a source other than the
 * installer's own registry, or an install script that `allowScripts` does not name. `false` there marks a package
 * that works without its script.
 */
export function findLockProblems(lockfile: Lockfile, manifest: Manifest): readonly string[] {
  const { lockfileVersion, packages } = lockfile;
  const problems = Object.entries(packages)
    .filter(([path]) => path !== "")
    .flatMap(([path, entry]) => findEntryProblems(path, entry, manifest));
  const ranges = [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies];
  problems.push(...ranges.flatMap((list) => findRangeProblems("package.json", list)));
  for (const name of Object.keys(manifest.allowScripts ?? {})) {
    const isUsed = Object.entries(packages).some(
      ([path, entry]) => toPackageName(path) === name && entry.hasInstallScript === true,
    );
    if (!isUsed)
      problems.push(`allowScripts names ${name}, which has no install script: remove it`);
  }
  if (lockfileVersion !== 3) problems.push(`lockfileVersion must be 3, got ${lockfileVersion}`);
  return problems;
}

function findEntryProblems(path: string, entry: LockEntry, manifest: Manifest): readonly string[] {
  const { version = "", integrity, resolved, link, hasInstallScript } = entry;
  const problems: string[] = [];
  if (link) problems.push(`${path} is a link to a folder: lock a published version`);
  else if (integrity === undefined) {
    problems.push(`${path} has no integrity hash: run npm run lockfile`);
  } else if (!SHA_512.test(integrity)) {
    problems.push(`${path} has no SHA-512 hash, but ${integrity}: lock it again`);
  }
  if (resolved !== undefined) {
    const remedy = "set omit-lockfile-registry-resolved=true and lock it again";
    problems.push(`${path} names its source, ${resolved}: ${remedy}`);
  }
  if (!VERSION.test(version)) problems.push(`${path} has no published version: ${version}`);
  if (hasInstallScript && manifest.allowScripts?.[toPackageName(path)] === undefined) {
    const remedy = "choose another package, or review the script and add it to allowScripts";
    problems.push(`${path} runs a script when it is installed: ${remedy}`);
  }
  for (const list of [entry.dependencies, entry.optionalDependencies]) {
    problems.push(...findRangeProblems(path, list));
  }
  return problems;
}

function findRangeProblems(
  of: string,
  list: Readonly<Record<string, string>> = {},
): readonly string[] {
  return Object.entries(list)
    .filter(([, range]) => !RANGE.test(range))
    .map(([name, range]) => `${of} wants ${name} from ${range}: use a version of the registry`);
}

const SHA_512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
/** A range of versions, or another name for a package of the registry: no URL, no path, no repository, no tag. */
const RANGE = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?[\d\s.^~<>=|x*v-][\w\s.^~<>=|*+-]*$/;
