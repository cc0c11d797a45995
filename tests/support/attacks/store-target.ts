import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { type Attack, type AttackOutcome, attempt } from "./attempt.ts";
import type { StoreOutcome, StoreStep } from "./store-process.ts";

/** A folder of sessions under attack, new for each test, and a file beside it that must not change. */
export interface StoreTarget {
  /** The folder that contains both. */
  readonly root: string;
  readonly directory: string;
  /** A file with one record that no session may reach. */
  readonly victim: string;
  /** Returns the path of a session's file. */
  getFile(id: string): string;
}

/** Creates a target before each test and removes it afterwards. */
export function useStoreTarget(): StoreTarget {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "wink-store-attack-"));
    chmodSync(root, 0o711);
    mkdirSync(target.directory);
    writeFileSync(target.victim, RECORD);
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const target: StoreTarget = {
    get root() {
      return root;
    },
    get directory() {
      return join(root, "sessions");
    },
    get victim() {
      return join(root, "victim");
    },
    getFile: (id) => join(root, "sessions", `${id}.jsonl`),
  };
  return target;
}

/** The name of the surface in the table of attacks. */
export const surface = "session store";
export const isRoot = process.getuid?.() === 0;
/** User ids of an ordinary user who runs the store, and of another one who attacks it. */
export const [ORDINARY, OTHER] = [65534, 65533];
export const MiB: number = 1024 ** 2;
const RECORD = '{"secret":"not for this session"}\n';

/** Reads, writes and deletes session `a`, and lists all sessions. */
export const ALL: readonly StoreStep[] = [
  ["read", "a"],
  ["append", "a", { stolen: true }],
  ["delete", "a"],
  ["list"],
];

/** Declares an attack twice: on a store of root, and on one of an ordinary user. */
export function attemptAsBoth(
  target: StoreTarget,
  attack: Omit<Attack, "surface" | "as">,
  work: (as: "root" | "user") => Promise<AttackOutcome>,
): void {
  for (const as of ["root", "user"] as const) {
    const prepareAndWork = async () => {
      const own = as === "user" ? [target.directory, target.victim] : [];
      for (const path of own) chownSync(path, ORDINARY, ORDINARY);
      return await work(as);
    };
    attempt({ ...attack, surface, as }, prepareAndWork, { skip: !isRoot });
  }
}

/** Returns what got through of `ALL`, if every operation should be refused with `problem` and nothing listed. */
export function findThrough(
  target: StoreTarget,
  { results }: StoreOutcome,
  problem: string,
): readonly string[] {
  const [list] = results.slice(3);
  const through = results.slice(0, 3).flatMap(({ error, message = "", value }, index) => {
    const isRefused = error === "SessionStoreError" && message.includes(problem);
    return isRefused ? [] : [`${ALL[index]?.[0]}: ${message} ${JSON.stringify(value)}`];
  });
  if (JSON.stringify(list?.value) !== "[]") through.push(`list: ${JSON.stringify(list)}`);
  if (readFileSync(target.victim, "utf8") !== RECORD) through.push("the other file was changed");
  return through;
}

/** Returns a file's permission bits. */
export function getMode(path: string): number {
  return statSync(path).mode & 0o777;
}

/** Mounts a small disk at a folder while `work` runs. Needs root. */
export async function withDisk<Result>(
  folder: string,
  options: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", folder]);
  if (status !== 0) throw new Error(`No disk could be mounted: ${stderr}`);
  try {
    return await work();
  } finally {
    spawnSync("umount", [folder]);
  }
}
