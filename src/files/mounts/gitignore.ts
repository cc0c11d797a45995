import { closeSync, existsSync, fstatSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { type GitignoreRule, parseGitignoreRule } from "./gitignore-rule.ts";

/** Git's own limit is 100 MiB. This one is lower, because every path is compared with every rule. */
const MAX_BYTES = 1024 * 1024;
const MAX_RULE_BYTES = 4096;

/** Ordinary rules cost about 2 each: enough for 1,000 rules and 100,000 files. */
const MAX_COST = 200_000_000;

/**
 * The `.gitignore` files that apply to one folder of a mount. As in git, the last matching rule of the nearest
 * file decides.
 */
export interface Gitignore {
  /** Adds the `.gitignore` of a folder. `prefix` is its path in the mount and a slash, or `""`. */
  enter(folder: string, prefix: string): Gitignore;
  /** Returns the name of the file whose rule ignores a path of the mount, or `null`. */
  findIgnoring(path: string, isFolder: boolean): string | null;
}

/**
 * Reads the `.gitignore` files above `folder`, up to the root of its repository, and the repository's
 * `.git/info/exclude`. `folder` must be a real path.
 */
export function readGitignore(folder: string): Gitignore {
  const root = findRepositoryRoot(folder);
  const budget: Budget = { left: MAX_COST };
  if (root === null) return createGitignore([], budget);
  const files: (RuleFile | null)[] = [];
  let above = "";
  let label = "";
  for (let at = folder; at !== root; ) {
    above = `${basename(at)}/${above}`;
    label = `../${label}`;
    at = dirname(at);
    files.push(readRuleFile(join(at, ".gitignore"), { label: `${label}.gitignore`, above }));
  }
  const exclude = ".git/info/exclude";
  files.push(readRuleFile(join(root, exclude), { label: label + exclude, above }));
  return createGitignore(
    files.filter((file) => file !== null),
    budget,
  );
}

/** The remaining cost of comparisons with rules. */
interface Budget {
  left: number;
}

/** Creates the rules of files, nearest first. */
function createGitignore(files: readonly RuleFile[], budget: Budget): Gitignore {
  return {
    enter(folder, prefix) {
      const path = join(folder, ".gitignore");
      const file = readRuleFile(path, { label: `${prefix}.gitignore`, below: prefix });
      return createGitignore(file === null ? files : [file, ...files], budget);
    },
    findIgnoring(path, isFolder) {
      const bytes = toBytes(path);
      for (const { rules, above, below, label, cost } of files) {
        const relative = above + bytes.slice(below);
        budget.left -= cost;
        if (budget.left < 0) throw createCostError(label);
        const rule = rules.findLast(
          (one) => (isFolder || !one.isFolderOnly) && one.matches(relative),
        );
        if (rule) return rule.isNegated ? null : label;
      }
      return null;
    },
  };
}

interface RuleFile {
  readonly rules: readonly GitignoreRule[];
  /** The file's name for messages, relative to the mount. */
  readonly label: string;
  /** The path from the file's folder to the mount, if it is above the mount. */
  readonly above: string;
  /** The length of the path from the mount to the file's folder, if it is in the mount. */
  readonly below: number;
  /** How long a comparison with all rules may take. */
  readonly cost: number;
}

interface RulePlace {
  readonly label: string;
  readonly above?: string;
  readonly below?: string;
}

function readRuleFile(path: string, { label, above = "", below = "" }: RulePlace): RuleFile | null {
  const text = readText(path);
  if (text === null) return null;
  const rules = text
    .replace(/^\xef\xbb\xbf/, "") // a byte order mark
    .split("\n")
    .map((line) => parseGitignoreRule(checkLength(line, path).replace(/\r$/, "")))
    .filter((rule) => rule !== null);
  const cost = rules.reduce((sum, rule) => sum + rule.cost, 0);
  return { rules, label, above: toBytes(above), below: toBytes(below).length, cost };
}

function createCostError(label: string): FilesystemError {
  const problem =
    "has too many rules and stars for the files of this mount. Shorten it, mount fewer files, or do not set gitignore.";
  return FilesystemError.invalid(label, problem);
}

function checkLength(line: string, path: string): string {
  if (line.length <= MAX_RULE_BYTES) return line;
  const problem = `has a rule of ${line.length} bytes. The maximum is ${MAX_RULE_BYTES}. Shorten it, or do not set gitignore.`;
  throw FilesystemError.invalid(path, problem);
}

/** Reads a file. Returns `null` if it does not exist or is not a plain file: like git, it does not follow symlinks. */
function readText(path: string): string | null {
  let file: number;
  try {
    file = openNoFollow(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(getErrorCode(error) ?? "")) return null;
    throw toFilesystemErrorWithRemedy(error, path, "make it readable, or do not set gitignore");
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    if (stats.size > MAX_BYTES) {
      const problem = `has ${stats.size} bytes. The maximum is ${MAX_BYTES}. Shorten it, or do not set gitignore.`;
      throw new FilesystemError("EFBIG", path, problem);
    }
    return readFileSync(file, "latin1");
  } finally {
    closeSync(file);
  }
}

/** Returns the nearest folder at or above `folder` that contains `.git`, or `null`. */
function findRepositoryRoot(folder: string): string | null {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : findRepositoryRoot(parent);
}

/** Returns the UTF-8 bytes of a text as Latin-1 characters. */
function toBytes(text: string): string {
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}
