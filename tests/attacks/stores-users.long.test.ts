import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { attempt } from "../support/attacks/attempt.ts";
import { runStore } from "../support/attacks/store-process.ts";
import {
  ALL,
  attemptAsBoth,
  findThrough,
  getMode,
  isRoot,
  ORDINARY,
  OTHER,
  surface,
  useStoreTarget,
} from "../support/attacks/store-target.ts";

const target = useStoreTarget();
const asRoot = { skip: !isRoot };

/** Makes the folder one that every user may create files in, like `/tmp`. */
function share(): void {
  chownSync(target.directory, 0, 0);
  chmodSync(target.directory, 0o1777);
}

attemptAsBoth(
  target,
  {
    finding: "own",
    tries:
      "plant a session's file in a shared folder as another user, to read along or to inject history",
    shows:
      "A file of another user is neither read, written nor listed; the message names its owner.",
  },
  async (as) => {
    share();
    writeFileSync(target.getFile("a"), '{"type":"Planted"}\n');
    chmodSync(target.getFile("a"), 0o666);
    chownSync(target.getFile("a"), OTHER, OTHER);
    const outcome = await runStore({ directory: target.directory, as, steps: ALL });
    const problem = `it belongs to another user (uid ${OTHER})`;
    return { tried: 4, through: findThrough(target, outcome, problem) };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries:
      "plant the lock's folder in a shared folder as another user, to delete locks that are held",
    shows: "The lock of another user is refused, so no write starts under it.",
  },
  async (as) => {
    share();
    const lock = join(target.directory, "a.lock");
    mkdirSync(lock);
    chmodSync(lock, 0o777);
    chownSync(lock, OTHER, OTHER);
    const { results } = await runStore({
      directory: target.directory,
      as,
      steps: [["append", "a", {}]],
    });
    const isRefused = results[0]?.message?.includes("a.lock belongs to another user") === true;
    return {
      through: isRefused && !existsSync(target.getFile("a")) ? [] : [JSON.stringify(results)],
    };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "read sessions of a process that runs with umask 0",
    shows: "The modes do not depend on the umask: 0600 for files, 0700 for folders and locks.",
  },
  async (as) => {
    const place = join(target.directory, "deep", "sessions");
    const paths = ["", "a.jsonl", "a.claim", "a.lock"].map((name) => join(place, name));
    const modes: number[] = [];
    await runStore(
      { directory: place, as, umask: 0, steps: [["append", "a", {}], ["claim", "a"], ["wait"]] },
      async () => {
        const [holder = ""] = readdirSync(join(place, "a.lock"));
        modes.push(...[...paths, join(place, "a.lock", holder)].map(getMode));
      },
    );
    const isPrivate = modes.length === 5 && modes.every((mode) => (mode & 0o077) === 0);
    return { tried: 5, through: isPrivate ? [] : modes.map((mode) => mode.toString(8)) };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "keep reading a session whose file an older version created with mode 0644",
    shows: "The next write makes the file private.",
  },
  async (as) => {
    const path = target.getFile("a");
    writeFileSync(path, '{"n":1}\n');
    chmodSync(path, 0o664);
    if (as === "user") chownSync(path, ORDINARY, ORDINARY);
    const { directory } = target;
    const { results } = await runStore({ directory, as, steps: [["append", "a", { n: 2 }]] });
    const isPrivate = results[0]?.value === null && getMode(path) === 0o600;
    return { through: isPrivate ? [] : [getMode(path).toString(8), JSON.stringify(results)] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "replace the lock's folder with a symlink while the lock is held, before it is released",
    shows: "The release deletes nothing in the folder that the link names.",
  },
  async () => {
    const other = join(target.root, "other");
    const lock = join(target.directory, "a.lock");
    mkdirSync(other);
    const steps = [["claim", "a"], ["wait"], ["close"]] as const;
    await runStore({ directory: target.directory, steps }, async () => {
      for (const name of readdirSync(lock)) writeFileSync(join(other, name), "not a lock");
      renameSync(lock, join(target.root, "moved"));
      symlinkSync(other, lock);
    });
    return { through: readdirSync(other).length === 1 ? [] : ["a file was deleted"] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "let the process exit without closing the store after its lock became a symlink",
    shows: "The handler that runs at exit deletes nothing elsewhere either.",
  },
  async () => {
    const other = join(target.root, "other");
    const lock = join(target.directory, "a.lock");
    mkdirSync(other);
    await runStore({ directory: target.directory, steps: [["claim", "a"], ["wait"]] }, async () => {
      for (const name of readdirSync(lock)) writeFileSync(join(other, name), "not a lock");
      renameSync(lock, join(target.root, "moved"));
      symlinkSync(other, lock);
    });
    return { through: readdirSync(other).length === 1 ? [] : ["a file was deleted"] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "fill a lock with folders and symlinks named like the locks of ended processes",
    shows:
      "They are ignored; neither they nor what the symlinks name is removed, and the write succeeds.",
  },
  async () => {
    const lock = join(target.directory, "a.lock");
    mkdirSync(lock);
    mkdirSync(join(lock, `999999999.1.00000000.${hostname()}`));
    symlinkSync(target.victim, join(lock, `999999998.1.00000001.${hostname()}`));
    const { results } = await runStore({
      directory: target.directory,
      steps: [["append", "a", { n: 1 }], ["close"]],
    });
    const isStored = results[0]?.value === null && readdirSync(lock).length === 2;
    return {
      tried: 2,
      through: isStored && existsSync(target.victim) ? [] : [JSON.stringify(results)],
    };
  },
);

attemptAsBoth(
  target,
  {
    finding: "own",
    tries: "swap a session's file for a symlink in a loop while 200 records are written",
    shows: "No byte reaches the other file in any round.",
  },
  async (as) => {
    const before = readFileSync(target.victim, "utf8");
    const swapper = spawn("python3", ["-c", SWAP, target.getFile("a"), target.victim]);
    const steps = Array.from({ length: 200 }, (_, n) => ["append", "a", { n }] as const);
    try {
      await runStore({ directory: target.directory, as, steps });
    } finally {
      swapper.kill("SIGKILL");
    }
    const isUnchanged = readFileSync(target.victim, "utf8") === before;
    return { tried: 200, through: isUnchanged ? [] : ["the other file was changed"] };
  },
);

/** Replaces a path by a symlink to another file and by nothing, in turn, for ever. */
const SWAP = `
import os, sys
path, victim = sys.argv[1:]
while True:
    try:
        os.symlink(victim, path + ".link")
        os.rename(path + ".link", path)
        os.unlink(path)
    except OSError:
        pass
`;

attempt(
  {
    finding: "own",
    surface,
    as: "user",
    tries: "stop list() of everyone else with a file that only its owner may read",
    shows:
      "Files of other users are skipped before they are opened, and the own sessions are listed.",
  },
  async () => {
    share();
    writeFileSync(target.getFile("theirs"), '{"n":1}\n', { mode: 0o600 });
    chownSync(target.getFile("theirs"), OTHER, OTHER);
    const { results } = await runStore({
      directory: target.directory,
      as: "user",
      steps: [["append", "mine", {}], ["list"]],
    });
    const isListed = JSON.stringify(results[1]?.value) === '["mine"]';
    return { through: isListed ? [] : [JSON.stringify(results)] };
  },
  asRoot,
);

attempt(
  {
    finding: "own",
    surface,
    as: "user",
    tries: "read or continue the session of root as an ordinary user with the same folder",
    shows: "The system refuses both, because root's file has mode 0600.",
  },
  async () => {
    share();
    const { directory } = target;
    await runStore({ directory, steps: [["append", "a", { of: "root" }], ["close"]] });
    const { results } = await runStore({ directory, as: "user", steps: ALL.slice(0, 3) });
    const through = results.filter(({ error }) => error !== "SessionStoreError");
    return { tried: 3, through: through.map((one) => JSON.stringify(one)) };
  },
  asRoot,
);
